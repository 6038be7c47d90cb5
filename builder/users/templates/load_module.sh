type module > /dev/null 2>&1 || . {{init}}
module use {{place}}/modulefiles
case ":${LOADEDMODULES-}:" in
*:{{module}}:*) ;;
*) module load {{module}} && WHEELYARD_LOADED={{module}} ;;
esac
