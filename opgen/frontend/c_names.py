"""Names that C headers declare in the global namespace, which no C++ namespace can have."""

from __future__ import annotations

from typing import Final

_C_TEXT: Final = """
    abort abs access acct acos acosh alarm aligned_alloc alloca arc4random arc4random_buf arc4random_uniform
    asctime asctime_r asin asinh at_quick_exit atan atan2 atanh atexit atoi basename bcmp bcopy blkcnt64_t
    blkcnt_t blksize_t brk bsearch btowc bzero caddr_t calloc canonicalize canonicalize_file_name cbrt ceil
    chdir chown chroot clearenv clearerr clock clock_adjtime clock_getcpuclockid clock_getres clock_gettime
    clock_nanosleep clock_settime clock_t clockid_t clone close close_range closefrom comparison_fn_t confstr
    cookie_io_functions_t copy_file_range copysign cos cosh cpu_set_t crypt ctermid ctime ctime_r cuserid
    daddr_t daemon daylight dev_t difftime div div_t double_t drand48 drand48_r drem dup dup2 dup3 duplocale
    dysize eaccess ecvt ecvt_r environ erand48 erand48_r erf erfc errno euidaccess execle execlp execv execve
    execveat execvp execvpe exit exp exp10 exp2 explicit_bzero expm1 fabs faccessat fadd fchdir fchown fchownat
    fclose fcvt fcvt_r fd_mask fd_set fdatasync fdim fdiv fdopen feclearexcept fedisableexcept feenableexcept
    fegetenv fegetexcept fegetexceptflag fegetmode fegetround feholdexcept femode_t fenv_t feraiseexcept ferror
    fesetenv fesetexcept fesetexceptflag fesetmode fesetround fetestexcept fetestexceptflag feupdateenv
    fexcept_t fexecve fflush ffma ffs fgetc fgetpos fgets fgetwc fgetws fileno finite float_t flockfile floor
    fma fmax fmaximum fmaximum_mag fmaximum_mag_num fmaximum_mag_numf fmaximum_mag_numl fmaximum_magf
    fmaximum_magl fmaximum_num fmaximum_numf fmaximum_numl fmaxmag fmemopen fmin fminimum fminimum_mag
    fminimum_mag_num fminimum_mag_numf fminimum_mag_numl fminimum_magf fminimum_magl fminimum_num fminimum_numf
    fminimum_numl fminmag fmod fopen fopencookie fork fpos64_t fpos_t fpregset_t fprintf fputc fputs fputwc
    fputws fread free freelocale freopen frexp fromfp fromfpx fsblkcnt64_t fsblkcnt_t fseek fseeko fsetpos
    fsfilcnt64_t fsfilcnt_t fsid_t fsqrt fsub fsync ftello ftruncate ftrylockfile funlockfile fwide fwrite gamma
    gcvt get_current_dir_name getc getchar getcpu getcwd getdate getdate_err getdate_r getdelim getdomainname
    getdtablesize getegid getentropy getenv geteuid getgid getgroups gethostid gethostname getline getloadavg
    getlogin getlogin_r getopt getpagesize getpass getpayload getpgid getpgrp getpid getppid getpt getresgid
    getresuid getsid getsubopt gettid getuid getw getwc getwchar getwd gid_t gmtime gmtime_r grantpt greg_t
    gregset_t group_member htonl hypot id_t ilogb imaxabs imaxdiv imaxdiv_t index initstate initstate_r ino64_t
    ino_t int16_t int32_t int64_t int8_t int_fast16_t int_fast32_t int_fast64_t int_fast8_t int_least16_t
    int_least32_t int_least64_t int_least8_t intmax_t intptr_t isalnum isalpha isascii isatty isblank isctype
    isdigit isgraph islower isnan isprint ispunct isspace isupper iswalnum iswalpha iswblank iswctype iswdigit
    iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit isxdigit j0 j1 jmp_buf jn jrand48 jrand48_r
    key_t kill killpg l64a labs lchown lcong48 lcong48_r ldexp ldiv ldiv_t lgamma lgamma_r lgammaf128_r
    lgammaf32_r lgammaf32x_r lgammaf64x_r lgammaf_r lgammal_r link linkat llabs lldiv lldiv_t llogb llrint
    llround locale_t localeconv localtime localtime_r loff_t log log10 log1p log2 logb longjmp lrand48 lrand48_r
    lrint lround lseek malloc mblen mbrlen mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstate_t mbstowcs mbtowc
    mcontext_t memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memrchr memset mkdtemp mkostemp
    mkostemps mkstemp mkstemps mktemp mktime mode_t modf mrand48 mrand48_r nan nanosleep nearbyint newlocale
    nextafter nextdown nexttoward nextup nice nlink_t nrand48 nrand48_r obstack_printf obstack_vprintf off64_t
    off_t on_exit open_memstream open_wmemstream optarg opterr optind optopt pause pclose perror pid_t pipe
    pipe2 popen posix_memalign posix_openpt pow pread printf pselect psiginfo ptsname ptsname_r putc putchar
    putenv puts putw putwc putwchar pwrite qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort qsort_r quad_t quick_exit
    raise rand rand_r random random_r rawmemchr read readlink readlinkat realloc reallocarray realpath
    register_t remainder remove remquo rename renameat renameat2 revoke rewind rindex rint rmdir round roundeven
    rpmatch sbrk scalb scalbln scalbn scanf sched_get_priority_max sched_get_priority_min sched_getaffinity
    sched_getcpu sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setparam
    sched_setscheduler sched_yield secure_getenv seed48 seed48_r select setbuffer setdomainname setegid setenv
    seteuid setgid sethostid sethostname setjmp setlocale setlogin setns setpayload setpayloadsig setpgid
    setpgrp setregid setresgid setresuid setreuid setsid setstate setstate_r setuid si_signo sig_atomic_t sig_t
    sigaction sigaddset sigaltstack sigandset sigblock sigdelset sigemptyset sigevent_t sigfillset siggetmask
    sighandler_t sighold sigignore siginterrupt sigisemptyset sigismember sigjmp_buf siglongjmp signal signgam
    significand sigorset sigpause sigpending sigprocmask sigqueue sigrelse sigreturn sigset sigset_t sigsetmask
    sigstack sigsuspend sigtimedwait sigval_t sigwait sigwaitinfo sin sincos sinh size_t sleep snprintf
    socklen_t sprintf sqrt srand srand48 srand48_r srandom srandom_r sscanf ssize_t stack_t stderr stdin stdout
    stpcpy stpncpy strcasecmp strcasestr strcat strchr strcmp strcpy strcspn strdup strerror strerror_r strfromd
    strfry strftime strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strptime strrchr strsep
    strspn strstr strtod strtoimax strtok strtok_r strtold strtoq strtoumax strtouq strverscmp strxfrm
    suseconds_t swab symlink symlinkat sync syncfs system sysv_signal tan tanh tcgetpgrp tcsetpgrp tempnam
    tgamma time time_t timegm timer_create timer_delete timer_getoverrun timer_gettime timer_settime timer_t
    timespec_get timespec_getres timezone tmpfile tmpnam tmpnam_r toascii tolower totalorder totalordermag
    toupper towctrans towlower towupper trunc truncate ttyname ttyname_r ttyslot tzname tzset u_char u_int
    u_int16_t u_int32_t u_int64_t u_int8_t u_long u_quad_t u_short ualarm ucontext_t ufromfp ufromfpx uid_t uint
    uint16_t uint32_t uint64_t uint8_t uint_fast16_t uint_fast32_t uint_fast64_t uint_fast8_t uint_least16_t
    uint_least32_t uint_least64_t uint_least8_t uintmax_t uintptr_t ulong ungetc ungetwc unlink unlinkat
    unlockpt unsetenv unshare useconds_t uselocale ushort usleep va_list valloc vfork vhangup wait wchar_t
    wcpcpy wcpncpy wcrtomb wcscasecmp wcscat wcschr wcscmp wcscpy wcscspn wcsdup wcsftime wcslen wcsncasecmp
    wcsncat wcsncmp wcsncpy wcsnlen wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstoimax wcstok
    wcstold wcstombs wcstoq wcstoumax wcstouq wcswcs wcswidth wcsxfrm wctob wctomb wctrans wctrans_t wctype
    wctype_t wcwidth wint_t wmemchr wmemcmp wmemcpy wmemmove wmempcpy wmemset write y0 y1 yn
"""
C_NAMES: Final = frozenset(_C_TEXT.split())
"""Functions, types and variables of the C library on Linux, in headers that torch's include."""
