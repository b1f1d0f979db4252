"""A name → whether it is a macro in headers that an extension includes: C's, Python's and torch's.

The preprocessor replaces a macro wherever C++ uses its name, so no function or argument can have it.

    is_macro("errno")            True
    is_macro("PyBytes_Check")    True
    is_macro("roi_align")        False
"""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = frozenset(
    {
        *("alloca", "assert", "assert_perror", "be16toh", "be32toh", "be64toh", "bool", "environ", "errno", "far"),
        *("fileno", "getc", "htobe16", "htobe32", "htobe64", "htole16", "htole32", "htole64", "i386", "interface"),
        *("int_vector", "isinf", "isnan", "issubnormal", "jiterator_also_stringify_as", "jiterator_code", "le16toh"),
        *("le32toh", "le64toh", "linux", "major", "makedev", "math_errhandling", "max", "min", "minor", "near"),
        *("offsetof", "pthread_cleanup_pop", "pthread_cleanup_pop_restore_np", "pthread_cleanup_push", "putc"),
        *("pthread_cleanup_push_defer_np", "sched_priority", "setjmp", "sigsetjmp", "small", "st_atime", "st_ctime"),
        *("st_mtime", "stderr", "stdin", "stdout", "strdupa", "strndupa", "timeradd", "timerclear", "timercmp"),
        *("timerisset", "timersub", "unix", "va_arg", "va_copy", "va_end", "va_start"),
    }
)
"""Ordinary words that are macros on some platforms."""
UNDEFINED_IN_CPP: Final = frozenset({"fileno", "getc", "isinf", "isnan", "max", "min", "putc"})
"""Macros that C++ headers undefine."""

_CAPITALS_TEXT: Final = """
    ACCESSPERMS ALLPERMS BIG_ENDIAN BUFSIZ BYTE_ORDER CHECK CLOCKS_PER_SEC CSIGNAL DCHECK DEBUG DECLARE_DISPATCH
    DEFFILEMODE DEFINE_DISPATCH DLOG E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF
    EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED ECONNREFUSED ECONNRESET
    EDEADLK EDEADLOCK EDESTADDRREQ EDOM EDOTDOT EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EILSEQ
    EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED ELNRNG ELOOP EMEDIUMTYPE
    EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL ENETDOWN ENETRESET ENETUNREACH ENFILE ENOANO ENOBUFS ENOCSI
    ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR
    ENOSTR ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ ENXIO EOF
    EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG EREMOTE
    EREMOTEIO ERESTART ERFKILL EROFS ERROR ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT
    ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL EXIT_FAILURE EXIT_SUCCESS HANDLE_TH_ERRORS I
    INFINITY LITTLE_ENDIAN LOG LOG_IF MAXFLOAT NAN NFDBITS NULL NZERO PIPE_BUF R_OK SNAN STDERR_FILENO STDIN_FILENO
    STDOUT_FILENO THPGenerator_Check VLOG VLOG_IF W_OK X_OK F_OK WCONTINUED WEOF WEXITED WEXITSTATUS WIFCONTINUED
    WIFEXITED WIFSIGNALED WIFSTOPPED WNOHANG WNOWAIT WSTOPPED WSTOPSIG WTERMSIG WUNTRACED
"""
_CAPITALS: Final = frozenset(_CAPITALS_TEXT.split())
"""Macros in capitals without a common prefix."""
_FAMILIES: Final = re.compile(
    r"Py([A-Z]\w*)?_\w+"  # Python
    r"|(AT|C10|CAFFE|CAFFE2|FMT|PYBIND11|REGISTER|STD_TORCH|THO|TORCH)_\w+"  # torch, and libraries in it
    r"|__(amd64|clang|cplusplus|gnu_linux|k8|linux|pic|pie|unix|x86_64|[A-Z][A-Z0-9_]*)_{0,2}"  # compilers
    r"|SYS_\w+|M_[A-Z0-9]\w*|(PRI|SCN)[diouxX]\w+|S_I[A-Z]+"  # C
    r"|(ADJ|AOTI|ATOMIC|CLOCK|CLONE|CO|CPU|DBL|FD|FE|FLT|FP|FVC|HAVE|HUGE|ITIMER|LC|LDBL|METH|MOD|NL|PTHREAD|PY|PYTHON"
    r"|RECORD|SCHED|SEEK|SIZEOF|SSTATE|STA|STATX)_[A-Z0-9_]+"
    r"|(CATCH|END|HANDLE)_[A-Z_]*ERRORS[A-Z_]*|[A-Z]+_ACC_TYPE"
    r"|([A-Z0-9]+_)+(MAX|MIN|WIDTH|EPSILON|DIG)(_\w+)?|[SU]?INT(MAX|\d+|PTR)?_C"  # limits
)
"""Macros with common prefixes."""


def is_macro(name: str) -> bool:
    """Return whether a name is a macro of C, Python or torch."""
    return name in _WORDS or name in _CAPITALS or _FAMILIES.fullmatch(name) is not None
