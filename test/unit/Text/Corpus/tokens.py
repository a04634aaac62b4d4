# Lexical corners: joined lines, numbers, strings, indentation.
a = 1; b = 2 ; c = (1,
    2,   # a comment inside
  3)
d = 1 + \
    2
e = 0x_ff + 0b1_0 + 0o17 + 1_000 + 00 + 0xDEAD_beef
f = 1. + .5 + 1e5 + 1.e-5 + 1_0.5_0E+1_0 + 0.0 + 007.5 + 5e0
g = 'a' "b" r'\n' R"\x" u'c' U"d" '' "" '\'' "\"" "a\tb\n\\" '\x41\102\u00e9\U0001F600'
h = """three
lines "quoted" ''inside''
'''end""" '''x\
y'''
i = "unknown \d escape" 'a\
b'
def   f ( x : 3 , ) -> None :
	# a comment at another depth
		# and another
	if x :	pass
	while x : a = 1 ; b = 2
	pass

	if x:

		y = 1
	# dedented comment
		z = 2
        # comment at eight
	elif y: pass
	else :
		pass
j = [1, 2,
     3][0]
k = a<b<=c==d!=e>f>=g
l = a**-b**c//d%e@f<<g>>h&i^j|k
m = not a and not b or c is not d is e not in f in g
n = x[1:2, :, ::3, 4:, :5:6, (7, 8), 9,]
o = 3 if False else None
match = 1
case = match
match.x(case)
match(case)
match[0]
if 1:
 x = 1
 if 2:
  y = 2
 z = 3
p = (
)
q = ()
r = (1,)
s = 1,
t = f(
    a, b
    , c = d,
    )
u = ...
größe = 3 if größe else naïve_ßx + 日本語 * α_2
