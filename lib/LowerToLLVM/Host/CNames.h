/* Names that C and C++ have taken, each between blanks; see Names.c.
 *
 * A function of an object must not have a name of the C library: the linker would take it for the library's own, in every
 * library of the program. */
#ifndef TF_LOWER_HOST_CNAMES_H
#define TF_LOWER_HOST_CNAMES_H

/* Keywords of any version, and `main`. */
static const char *const c_keywords[] = {
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class ",
    " co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype ",
    " default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline ",
    " int long main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public ",
    " register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct ",
    " switch template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned ",
    " using virtual void volatile wchar_t while xor xor_eq ",
};

/* Types and macros that a header may meet, and the names of a prototype's first two parameters. */
static const char *const c_visible[] = {
    " EOF I NULL assert errno i386 int16_t int32_t int64_t int8_t intmax_t intptr_t linux max_align_t offsetof ",
    " ptrdiff_t runtime size_t stderr stdin stdout stream uint16_t uint32_t uint64_t uint8_t uintmax_t uintptr_t ",
    " unix ",
};

/* The same by their beginnings, and what else the headers of the runtime declare. */
static const char *const c_visible_families[] = {"tf_",  "TF_",      "DL",    "kDL",    "INT",
                                                 "UINT", "PTRDIFF_", "SIZE_", "WCHAR_", "WINT_"};

/* Functions and variables of ISO C, POSIX and the libraries that the runtime needs. */
static const char *const c_functions[] = {
    " a64l abort abs accept accept4 access acct alarm aligned_alloc alphasort asctime asctime_r asprintf atof atoi ",
    " atol atoll basename bcmp bcopy bind brk bsearch btowc bzero c16rtomb c32rtomb call_once calloc catclose ",
    " catgets catopen cfgetispeed cfgetospeed cfree cfsetispeed cfsetospeed chdir chmod chown chroot clearerr clock ",
    " clone close closedir closelog confstr connect creat ctermid ctime ctime_r daemon daylight difftime dirfd ",
    " dirname div dlclose dlerror dlopen dlsym dprintf drand48 drem dup dup2 dup3 duplocale endgrent endhostent ",
    " endnetent endprotoent endpwent endservent environ erand48 errno error eventfd execl execle execlp execv execve ",
    " execvp exit exp10 faccessat fchdir fchmod fchmodat fchown fchownat fclose fcntl fdatasync fdopen fdopendir ",
    " feclearexcept fegetenv fegetexceptflag fegetround feholdexcept feof feraiseexcept ferror fesetenv ",
    " fesetexceptflag fesetround fetestexcept feupdateenv fexecve fflush ffs fgetc fgetpos fgets fgetwc fgetws ",
    " fileno finite flockfile fmemopen fnmatch fopen fork fpathconf fprintf fputc fputs fputwc fputws fread free ",
    " freeaddrinfo freelocale freopen fscanf fseek fseeko fsetpos fstat fstatat fstatvfs fsync ftell ftello ftok ",
    " ftruncate ftrylockfile ftw funlockfile futimens fwide fwprintf fwrite fwscanf gai_strerror gamma getaddrinfo ",
    " getc getc_unlocked getchar getchar_unlocked getcwd getdate getdelim getegid getentropy getenv geteuid getgid ",
    " getgrent getgrgid getgrgid_r getgrnam getgrnam_r getgroups gethostbyaddr gethostbyname gethostent gethostid ",
    " gethostname getitimer getline getlogin getlogin_r getnameinfo getnetbyaddr getnetbyname getnetent getopt ",
    " getpeername getpgid getpgrp getpid getppid getpriority getprotobyname getprotobynumber getprotoent getpwent ",
    " getpwnam getpwnam_r getpwuid getpwuid_r getrandom getrlimit getrusage gets getservbyname getservbyport ",
    " getservent getsid getsockname getsockopt getsubopt gettimeofday getuid getwc getwchar glob globfree gmtime ",
    " gmtime_r grantpt hcreate hdestroy hsearch htonl htons iconv iconv_close iconv_open imaxabs imaxdiv index ",
    " inet_addr inet_lnaof inet_makeaddr inet_netof inet_network inet_ntoa inet_ntop inet_pton initgroups initstate ",
    " insque ioctl isalnum isalpha isatty isblank iscntrl isdigit isgraph isinf islower isnan isprint ispunct ",
    " isspace isupper iswalnum iswalpha iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct ",
    " iswspace iswupper iswxdigit isxdigit j0 j1 jn jrand48 kill killpg l64a labs lchown lcong48 ldiv lfind link ",
    " linkat lio_listio listen llabs lldiv localeconv localtime localtime_r lockf longjmp lrand48 lsearch lseek ",
    " lstat mallinfo malloc mallopt mblen mbrlen mbrtoc16 mbrtoc32 mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstowcs ",
    " mbtowc memalign memccpy memchr memcmp memcpy memfd_create memmem memmove mempcpy memrchr memset mkdir mkdirat ",
    " mkdtemp mkfifo mkfifoat mknod mknodat mkostemp mkstemp mktime mlock mlockall mmap mount mprotect mrand48 ",
    " msgctl msgget msgrcv msgsnd msync munlock munlockall munmap nanosleep newlocale nftw nice nl_langinfo ",
    " nl_langinfo_l nrand48 ntohl ntohs open open_memstream open_wmemstream openat opendir openlog optarg opterr ",
    " optind optopt pathconf pause pclose perror pipe pipe2 poll popen pow10 pread printf pselect psiginfo psignal ",
    " ptsname putc putc_unlocked putchar putchar_unlocked putenv puts putwc putwchar pvalloc pwrite qsort qsort_r ",
    " quick_exit raise rand rand_r random rawmemchr re_comp read readdir readdir_r readlink readlinkat readv realloc ",
    " reallocarray realpath recv recvfrom recvmsg regcomp regerror regexec regfree remove remque rename renameat ",
    " rewind rewinddir rindex rmdir sbrk scandir scanf seed48 seekdir select semctl semget semop send sendmsg sendto ",
    " setbuf setegid setenv seteuid setgid setgrent sethostent setitimer setjmp setlocale setlogmask setnetent ",
    " setpgid setpgrp setpriority setprotoent setpwent setregid setreuid setrlimit setservent setsid setsockopt ",
    " setstate setuid setvbuf shm_open shm_unlink shmat shmctl shmdt shmget shutdown sigaction sigaddset sigaltstack ",
    " sigdelset sigemptyset sigfillset sighold sigignore siginterrupt sigismember signal signalfd signgam ",
    " significand sigpause sigpending sigprocmask sigqueue sigrelse sigset sigsuspend sigtimedwait sigwait ",
    " sigwaitinfo sincos sleep snprintf sockatmark socket socketpair splice sprintf srand srand48 srandom sscanf ",
    " stat statfs statvfs stderr stdin stdout stpcpy stpncpy strcasecmp strcasecmp_l strcat strchr strcmp strcoll ",
    " strcoll_l strcpy strcspn strdup strerror strerror_l strerror_r strfmon strfmon_l strftime strftime_l strlen ",
    " strncasecmp strncasecmp_l strncat strncmp strncpy strndup strnlen strpbrk strptime strrchr strsep strsignal ",
    " strspn strstr strtod strtod_l strtof strtoimax strtok strtok_r strtol strtold strtoll strtoul strtoull ",
    " strtoumax strxfrm strxfrm_l swab swprintf swscanf symlink symlinkat sync syscall sysconf syslog system tcdrain ",
    " tcflow tcflush tcgetattr tcgetpgrp tcgetsid tcsendbreak tcsetattr tcsetpgrp tdelete tee telldir tempnam tfind ",
    " time times timespec_get timezone tmpfile tmpnam tolower toupper towctrans towlower towupper truncate tsearch ",
    " ttyname ttyname_r twalk tzname tzset umask umount uname ungetc ungetwc unlink unlinkat unlockpt unsetenv ",
    " uselocale utime utimensat utimes valloc vasprintf vdprintf vfork vfprintf vfscanf vfwprintf vfwscanf vprintf ",
    " vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wait wait3 wait4 waitid waitpid wcpcpy ",
    " wcpncpy wcrtomb wcscasecmp wcscasecmp_l wcscat wcschr wcscmp wcscoll wcscoll_l wcscpy wcscspn wcsdup wcsftime ",
    " wcslen wcsncasecmp wcsncasecmp_l wcsncat wcsncmp wcsncpy wcsnlen wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn ",
    " wcsstr wcstod wcstof wcstoimax wcstok wcstol wcstold wcstoll wcstombs wcstoul wcstoull wcstoumax wcswcs ",
    " wcswidth wcsxfrm wcsxfrm_l wctob wctomb wctrans wctype wcwidth wmemchr wmemcmp wmemcpy wmemmove wmemset ",
    " wprintf write writev wscanf y0 y1 yn ",
};

/* The same that also exist with f and l behind their names. */
static const char *const c_math_functions[] = {
    " acos acosh asin asinh atan atan2 atanh cabs cacos cacosh carg casin casinh catan catanh cbrt ccos ccosh ceil ",
    " cexp cimag clog conj copysign cos cosh cpow cproj creal csin csinh csqrt ctan ctanh erf erfc exp exp2 expm1 ",
    " fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb ",
    " lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn sin sinh ",
    " sqrt tan tanh tgamma trunc ",
};

/* The same by their beginnings. */
static const char *const c_function_families[] = {"tf_", "pthread_", "posix_", "sem_", "sched_", "aio_",
                                                  "mq_", "timer_",   "clock_", "shm_", "json_",  "obstack_"};

#endif
