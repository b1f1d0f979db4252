$endif
