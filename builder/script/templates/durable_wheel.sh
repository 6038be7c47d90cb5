    # Report success only after the wheel is synced to disk.
    test "$code" -ne 0 || find "$folder/wheel" -exec sync {} + || { code=74 phase=sync; }
