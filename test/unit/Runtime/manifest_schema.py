"""The manifest reader and docs/manifest.schema.json agree: the same documents are refused by both.

Takes a good manifest apart: every member is removed and replaced by values of other kinds, every array is
shortened and lengthened, every closed object gets an extra key. What the schema refuses the reader must refuse;
what the schema accepts the reader may refuse only for a reason that no schema can say (a name that does not exist, …).

    manifest_schema.py CHECKER SCHEMA MANIFEST…
"""
import copy
import json
import subprocess
import sys

import jsonschema

VALUES = [None, True, -1, 0, 1, 17, 2**62, 0.5, "", "x", "f32", "gmem", "launch", [], [1], [1, 1, 1], {}, {"var": "S"},
          {"op": "add", "args": [1, 2]}, {"op": "mod", "args": [1, 2, 3]}, {"shape_of": "x", "axis": 0},
          {"file": "f", "line": 1, "column": 1}, {"stmt": "sequence", "body": []}]
# Beginnings of reasons that are about names and sense, not about form.
BEYOND = ("no ", "two ", "the dim ", "the parameter ", "the alignment ", "a hidden ", "a declared ", "the grid barrier ",
          "there is no ", "a grid_barrier ", "a kernel with ", "more outputs ", "the calls ", "a scalar parameter",
          "'", "the key 'kind'", *(f"{n} strides for" for n in range(9)))


def mutations(root):
    def walk(node, path):
        yield path
        children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in children:
            yield from walk(value, path + [key])

    def change(path, action):
        document = copy.deepcopy(root)
        at = document
        for key in path[:-1]:
            at = at[key]
        action(at, path[-1])
        return document

    for number, path in enumerate(walk(root, [])):
        if not path:
            continue
        # One of the values at each place, another one at the next: all of them everywhere takes minutes.
        value = VALUES[number % len(VALUES)]
        yield change(path, lambda at, key: at.__setitem__(key, value))
        yield change(path, lambda at, key: at.__delitem__(key))
        node = root
        for key in path:
            node = node[key]
        if isinstance(node, dict):
            yield change(path, lambda at, key: at[key].__setitem__("extra", 1))
        if isinstance(node, list):
            yield change(path, lambda at, key: at[key].append(1))


def main():
    checker, schema_path, *manifests = sys.argv[1:]
    schema = json.load(open(schema_path))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    documents = []
    for path in manifests:
        good = json.load(open(path))
        documents.append(good)
        documents += mutations(good)
    lines = "".join(json.dumps(d) + "\n" for d in documents)
    said = subprocess.run([checker], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(said) == len(documents), (len(said), len(documents))
    accepted = wrong = 0
    for document, answer in zip(documents, said):
        valid = validator.is_valid(document)
        accepted += valid
        reason = answer.split(": ", 2)[-1]
        if valid == (answer == "ok") or (valid and reason.startswith(BEYOND)):
            continue
        wrong += 1
        error = "" if valid else next(validator.iter_errors(document)).message[:200]
        print(f"schema: {'accepts' if valid else 'refuses: ' + error}\nreader: {answer}\n", file=sys.stderr)
    print(f"{len(documents)} documents, {accepted} valid, {wrong} disagreements")
    return wrong != 0


sys.exit(main())
