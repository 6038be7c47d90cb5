        if [ "${WHEELYARD_LOADED-}" = {{module}} ] ; then
            module unload {{module}}
            unset WHEELYARD_LOADED
        fi
