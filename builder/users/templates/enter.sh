module use {{place}}/modulefiles
module load {{module}}
case ":${LOADEDMODULES-}:" in
*:{{module}}:*) ;;
*)
    echo "error: module {{module}} is not loaded; see the message of 'module load' above" >&2
    exit 69
    ;;
esac
