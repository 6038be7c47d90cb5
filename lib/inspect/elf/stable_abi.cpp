// CPython's Stable ABI: every function and object on Linux, by the Python 3 minor version that added it.
// Names and versions are from Misc/stable_abi.toml in CPython's repository as of September 2026 (3.15 in
// release candidates, 3.16 begun), without the Windows-only entries.
#include "lib/inspect/elf/private_symbols.hpp"

#include <span>
#include <unordered_map>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

struct Added {
    unsigned minor;
    std::string_view names;  // separated by spaces
};
constexpr Added added[] = {
    {2,
     "PyArg_Parse PyArg_ParseTuple PyArg_ParseTupleAndKeywords PyArg_UnpackTuple PyArg_VaParse "
     "PyArg_VaParseTupleAndKeywords PyArg_ValidateKeywordArguments PyBaseObject_Type PyBool_FromLong "
     "PyBool_Type PyByteArrayIter_Type PyByteArray_AsString PyByteArray_Concat PyByteArray_FromObject "
     "PyByteArray_FromStringAndSize PyByteArray_Resize PyByteArray_Size PyByteArray_Type "
     "PyBytesIter_Type PyBytes_AsString PyBytes_AsStringAndSize PyBytes_Concat PyBytes_ConcatAndDel "
     "PyBytes_DecodeEscape PyBytes_FromFormat PyBytes_FromFormatV PyBytes_FromObject "
     "PyBytes_FromString PyBytes_FromStringAndSize PyBytes_Repr PyBytes_Size PyBytes_Type "
     "PyCFunction_Call PyCFunction_GetFlags PyCFunction_GetFunction PyCFunction_GetSelf "
     "PyCFunction_NewEx PyCFunction_Type PyCallIter_New PyCallIter_Type PyCallable_Check "
     "PyCapsule_GetContext PyCapsule_GetDestructor PyCapsule_GetName PyCapsule_GetPointer "
     "PyCapsule_Import PyCapsule_IsValid PyCapsule_New PyCapsule_SetContext PyCapsule_SetDestructor "
     "PyCapsule_SetName PyCapsule_SetPointer PyCapsule_Type PyClassMethodDescr_Type "
     "PyCodec_BackslashReplaceErrors PyCodec_Decode PyCodec_Decoder PyCodec_Encode PyCodec_Encoder "
     "PyCodec_IgnoreErrors PyCodec_IncrementalDecoder PyCodec_IncrementalEncoder PyCodec_KnownEncoding "
     "PyCodec_LookupError PyCodec_Register PyCodec_RegisterError PyCodec_ReplaceErrors "
     "PyCodec_StreamReader PyCodec_StreamWriter PyCodec_StrictErrors PyCodec_XMLCharRefReplaceErrors "
     "PyComplex_FromDoubles PyComplex_ImagAsDouble PyComplex_RealAsDouble PyComplex_Type "
     "PyDescr_NewClassMethod PyDescr_NewGetSet PyDescr_NewMember PyDescr_NewMethod PyDictItems_Type "
     "PyDictIterItem_Type PyDictIterKey_Type PyDictIterValue_Type PyDictKeys_Type PyDictProxy_New "
     "PyDictProxy_Type PyDictValues_Type PyDict_Clear PyDict_Contains PyDict_Copy PyDict_DelItem "
     "PyDict_DelItemString PyDict_GetItem PyDict_GetItemString PyDict_GetItemWithError PyDict_Items "
     "PyDict_Keys PyDict_Merge PyDict_MergeFromSeq2 PyDict_New PyDict_Next PyDict_SetItem "
     "PyDict_SetItemString PyDict_Size PyDict_Type PyDict_Update PyDict_Values PyEllipsis_Type "
     "PyEnum_Type PyErr_BadArgument PyErr_BadInternalCall PyErr_CheckSignals PyErr_Clear PyErr_Display "
     "PyErr_ExceptionMatches PyErr_Fetch PyErr_Format PyErr_GivenExceptionMatches PyErr_NewException "
     "PyErr_NewExceptionWithDoc PyErr_NoMemory PyErr_NormalizeException PyErr_Occurred PyErr_Print "
     "PyErr_PrintEx PyErr_ProgramText PyErr_Restore PyErr_SetFromErrno PyErr_SetFromErrnoWithFilename "
     "PyErr_SetFromErrnoWithFilenameObject PyErr_SetInterrupt PyErr_SetNone PyErr_SetObject "
     "PyErr_SetString PyErr_SyntaxLocation PyErr_WarnEx PyErr_WarnExplicit PyErr_WarnFormat "
     "PyErr_WriteUnraisable PyEval_AcquireLock PyEval_AcquireThread PyEval_CallFunction "
     "PyEval_CallMethod PyEval_CallObjectWithKeywords PyEval_EvalCode PyEval_EvalCodeEx "
     "PyEval_EvalFrame PyEval_EvalFrameEx PyEval_GetBuiltins PyEval_GetFrame PyEval_GetFuncDesc "
     "PyEval_GetFuncName PyEval_GetGlobals PyEval_GetLocals PyEval_InitThreads PyEval_ReleaseLock "
     "PyEval_ReleaseThread PyEval_RestoreThread PyEval_SaveThread PyEval_ThreadsInitialized "
     "PyExc_ArithmeticError PyExc_AssertionError PyExc_AttributeError PyExc_BaseException "
     "PyExc_BufferError PyExc_BytesWarning PyExc_DeprecationWarning PyExc_EOFError "
     "PyExc_EnvironmentError PyExc_Exception PyExc_FloatingPointError PyExc_FutureWarning "
     "PyExc_GeneratorExit PyExc_IOError PyExc_ImportError PyExc_ImportWarning PyExc_IndentationError "
     "PyExc_IndexError PyExc_KeyError PyExc_KeyboardInterrupt PyExc_LookupError PyExc_MemoryError "
     "PyExc_NameError PyExc_NotImplementedError PyExc_OSError PyExc_OverflowError "
     "PyExc_PendingDeprecationWarning PyExc_ReferenceError PyExc_RuntimeError PyExc_RuntimeWarning "
     "PyExc_StopIteration PyExc_SyntaxError PyExc_SyntaxWarning PyExc_SystemError PyExc_SystemExit "
     "PyExc_TabError PyExc_TypeError PyExc_UnboundLocalError PyExc_UnicodeDecodeError "
     "PyExc_UnicodeEncodeError PyExc_UnicodeError PyExc_UnicodeTranslateError PyExc_UnicodeWarning "
     "PyExc_UserWarning PyExc_ValueError PyExc_Warning PyExc_ZeroDivisionError PyException_GetCause "
     "PyException_GetContext PyException_GetTraceback PyException_SetCause PyException_SetContext "
     "PyException_SetTraceback PyFile_FromFd PyFile_GetLine PyFile_WriteObject PyFile_WriteString "
     "PyFilter_Type PyFloat_AsDouble PyFloat_FromDouble PyFloat_FromString PyFloat_GetInfo "
     "PyFloat_GetMax PyFloat_GetMin PyFloat_Type PyFrozenSet_New PyFrozenSet_Type PyGC_Collect "
     "PyGILState_Ensure PyGILState_GetThisThreadState PyGILState_Release PyGetSetDescr_Type "
     "PyImport_AddModule PyImport_AppendInittab PyImport_ExecCodeModule PyImport_ExecCodeModuleEx "
     "PyImport_ExecCodeModuleWithPathnames PyImport_GetImporter PyImport_GetMagicNumber "
     "PyImport_GetMagicTag PyImport_GetModuleDict PyImport_Import PyImport_ImportFrozenModule "
     "PyImport_ImportModule PyImport_ImportModuleLevel PyImport_ImportModuleNoBlock "
     "PyImport_ReloadModule PyInterpreterState_Clear PyInterpreterState_Delete PyInterpreterState_New "
     "PyIter_Next PyListIter_Type PyListRevIter_Type PyList_Append PyList_AsTuple PyList_GetItem "
     "PyList_GetSlice PyList_Insert PyList_New PyList_Reverse PyList_SetItem PyList_SetSlice "
     "PyList_Size PyList_Sort PyList_Type PyLongRangeIter_Type PyLong_AsDouble PyLong_AsLong "
     "PyLong_AsLongAndOverflow PyLong_AsLongLong PyLong_AsLongLongAndOverflow PyLong_AsSize_t "
     "PyLong_AsSsize_t PyLong_AsUnsignedLong PyLong_AsUnsignedLongLong PyLong_AsUnsignedLongLongMask "
     "PyLong_AsUnsignedLongMask PyLong_AsVoidPtr PyLong_FromDouble PyLong_FromLong PyLong_FromLongLong "
     "PyLong_FromSize_t PyLong_FromSsize_t PyLong_FromString PyLong_FromUnsignedLong "
     "PyLong_FromUnsignedLongLong PyLong_FromVoidPtr PyLong_GetInfo PyLong_Type PyMap_Type "
     "PyMapping_Check PyMapping_GetItemString PyMapping_HasKey PyMapping_HasKeyString PyMapping_Items "
     "PyMapping_Keys PyMapping_Length PyMapping_SetItemString PyMapping_Size PyMapping_Values "
     "PyMarshal_ReadObjectFromString PyMarshal_WriteObjectToString PyMem_Free PyMem_Malloc "
     "PyMem_Realloc PyMemberDescr_Type PyMember_GetOne PyMember_SetOne PyMemoryView_FromObject "
     "PyMemoryView_GetContiguous PyMemoryView_Type PyMethodDescr_Type PyModule_AddIntConstant "
     "PyModule_AddObject PyModule_AddStringConstant PyModule_Create2 PyModule_GetDef PyModule_GetDict "
     "PyModule_GetFilename PyModule_GetFilenameObject PyModule_GetName PyModule_GetState PyModule_New "
     "PyModule_Type PyNumber_Absolute PyNumber_Add PyNumber_And PyNumber_AsSsize_t PyNumber_Check "
     "PyNumber_Divmod PyNumber_Float PyNumber_FloorDivide PyNumber_InPlaceAdd PyNumber_InPlaceAnd "
     "PyNumber_InPlaceFloorDivide PyNumber_InPlaceLshift PyNumber_InPlaceMultiply PyNumber_InPlaceOr "
     "PyNumber_InPlacePower PyNumber_InPlaceRemainder PyNumber_InPlaceRshift PyNumber_InPlaceSubtract "
     "PyNumber_InPlaceTrueDivide PyNumber_InPlaceXor PyNumber_Index PyNumber_Invert PyNumber_Long "
     "PyNumber_Lshift PyNumber_Multiply PyNumber_Negative PyNumber_Or PyNumber_Positive PyNumber_Power "
     "PyNumber_Remainder PyNumber_Rshift PyNumber_Subtract PyNumber_ToBase PyNumber_TrueDivide "
     "PyNumber_Xor PyOS_AfterFork PyOS_InputHook PyOS_InterruptOccurred PyOS_double_to_string "
     "PyOS_getsig PyOS_mystricmp PyOS_mystrnicmp PyOS_setsig PyOS_snprintf PyOS_string_to_double "
     "PyOS_strtol PyOS_strtoul PyOS_vsnprintf PyObject_ASCII PyObject_AsCharBuffer "
     "PyObject_AsFileDescriptor PyObject_AsReadBuffer PyObject_AsWriteBuffer PyObject_Bytes "
     "PyObject_Call PyObject_CallFunction PyObject_CallFunctionObjArgs PyObject_CallMethod "
     "PyObject_CallMethodObjArgs PyObject_CallObject PyObject_CheckReadBuffer PyObject_ClearWeakRefs "
     "PyObject_DelItem PyObject_DelItemString PyObject_Dir PyObject_Format PyObject_Free "
     "PyObject_GC_Del PyObject_GC_Track PyObject_GC_UnTrack PyObject_GenericGetAttr "
     "PyObject_GenericSetAttr PyObject_GetAttr PyObject_GetAttrString PyObject_GetItem "
     "PyObject_GetIter PyObject_HasAttr PyObject_HasAttrString PyObject_Hash "
     "PyObject_HashNotImplemented PyObject_Init PyObject_InitVar PyObject_IsInstance "
     "PyObject_IsSubclass PyObject_IsTrue PyObject_Length PyObject_Malloc PyObject_Not "
     "PyObject_Realloc PyObject_Repr PyObject_RichCompare PyObject_RichCompareBool PyObject_SelfIter "
     "PyObject_SetAttr PyObject_SetAttrString PyObject_SetItem PyObject_Size PyObject_Str "
     "PyObject_Type PyProperty_Type PyRangeIter_Type PyRange_Type PyReversed_Type PySeqIter_New "
     "PySeqIter_Type PySequence_Check PySequence_Concat PySequence_Contains PySequence_Count "
     "PySequence_DelItem PySequence_DelSlice PySequence_Fast PySequence_GetItem PySequence_GetSlice "
     "PySequence_In PySequence_InPlaceConcat PySequence_InPlaceRepeat PySequence_Index "
     "PySequence_Length PySequence_List PySequence_Repeat PySequence_SetItem PySequence_SetSlice "
     "PySequence_Size PySequence_Tuple PySetIter_Type PySet_Add PySet_Clear PySet_Contains "
     "PySet_Discard PySet_New PySet_Pop PySet_Size PySet_Type PySlice_GetIndices PySlice_GetIndicesEx "
     "PySlice_New PySlice_Type PyState_FindModule PyStructSequence_GetItem PyStructSequence_New "
     "PyStructSequence_NewType PyStructSequence_SetItem PySuper_Type PySys_AddWarnOption "
     "PySys_AddWarnOptionUnicode PySys_FormatStderr PySys_FormatStdout PySys_GetObject "
     "PySys_HasWarnOptions PySys_ResetWarnOptions PySys_SetArgv PySys_SetArgvEx PySys_SetObject "
     "PySys_SetPath PySys_WriteStderr PySys_WriteStdout PyThreadState_Clear PyThreadState_Delete "
     "PyThreadState_DeleteCurrent PyThreadState_Get PyThreadState_GetDict PyThreadState_New "
     "PyThreadState_SetAsyncExc PyThreadState_Swap PyThread_ReInitTLS PyThread_acquire_lock "
     "PyThread_acquire_lock_timed PyThread_allocate_lock PyThread_create_key PyThread_delete_key "
     "PyThread_delete_key_value PyThread_exit_thread PyThread_free_lock PyThread_get_key_value "
     "PyThread_get_stacksize PyThread_get_thread_ident PyThread_get_thread_native_id "
     "PyThread_init_thread PyThread_release_lock PyThread_set_key_value PyThread_set_stacksize "
     "PyThread_start_new_thread PyTraceBack_Here PyTraceBack_Print PyTraceBack_Type PyTupleIter_Type "
     "PyTuple_GetItem PyTuple_GetSlice PyTuple_New PyTuple_Pack PyTuple_SetItem PyTuple_Size "
     "PyTuple_Type PyType_ClearCache PyType_FromSpec PyType_GenericAlloc PyType_GenericNew "
     "PyType_GetFlags PyType_IsSubtype PyType_Modified PyType_Ready PyType_Type "
     "PyUnicodeDecodeError_Create PyUnicodeDecodeError_GetEncoding PyUnicodeDecodeError_GetEnd "
     "PyUnicodeDecodeError_GetObject PyUnicodeDecodeError_GetReason PyUnicodeDecodeError_GetStart "
     "PyUnicodeDecodeError_SetEnd PyUnicodeDecodeError_SetReason PyUnicodeDecodeError_SetStart "
     "PyUnicodeEncodeError_GetEncoding PyUnicodeEncodeError_GetEnd PyUnicodeEncodeError_GetObject "
     "PyUnicodeEncodeError_GetReason PyUnicodeEncodeError_GetStart PyUnicodeEncodeError_SetEnd "
     "PyUnicodeEncodeError_SetReason PyUnicodeEncodeError_SetStart PyUnicodeIter_Type "
     "PyUnicodeTranslateError_GetEnd PyUnicodeTranslateError_GetObject "
     "PyUnicodeTranslateError_GetReason PyUnicodeTranslateError_GetStart "
     "PyUnicodeTranslateError_SetEnd PyUnicodeTranslateError_SetReason "
     "PyUnicodeTranslateError_SetStart PyUnicode_Append PyUnicode_AppendAndDel PyUnicode_AsASCIIString "
     "PyUnicode_AsCharmapString PyUnicode_AsDecodedObject PyUnicode_AsDecodedUnicode "
     "PyUnicode_AsEncodedObject PyUnicode_AsEncodedString PyUnicode_AsEncodedUnicode "
     "PyUnicode_AsLatin1String PyUnicode_AsRawUnicodeEscapeString PyUnicode_AsUTF16String "
     "PyUnicode_AsUTF32String PyUnicode_AsUTF8String PyUnicode_AsUnicodeEscapeString "
     "PyUnicode_AsWideChar PyUnicode_BuildEncodingMap PyUnicode_Compare "
     "PyUnicode_CompareWithASCIIString PyUnicode_Concat PyUnicode_Contains PyUnicode_Count "
     "PyUnicode_Decode PyUnicode_DecodeASCII PyUnicode_DecodeCharmap PyUnicode_DecodeFSDefault "
     "PyUnicode_DecodeFSDefaultAndSize PyUnicode_DecodeLatin1 PyUnicode_DecodeRawUnicodeEscape "
     "PyUnicode_DecodeUTF16 PyUnicode_DecodeUTF16Stateful PyUnicode_DecodeUTF32 "
     "PyUnicode_DecodeUTF32Stateful PyUnicode_DecodeUTF7 PyUnicode_DecodeUTF7Stateful "
     "PyUnicode_DecodeUTF8 PyUnicode_DecodeUTF8Stateful PyUnicode_DecodeUnicodeEscape "
     "PyUnicode_EncodeFSDefault PyUnicode_FSConverter PyUnicode_FSDecoder PyUnicode_Find "
     "PyUnicode_Format PyUnicode_FromEncodedObject PyUnicode_FromFormat PyUnicode_FromFormatV "
     "PyUnicode_FromObject PyUnicode_FromOrdinal PyUnicode_FromString PyUnicode_FromStringAndSize "
     "PyUnicode_FromWideChar PyUnicode_GetDefaultEncoding PyUnicode_GetSize PyUnicode_InternFromString "
     "PyUnicode_InternImmortal PyUnicode_InternInPlace PyUnicode_IsIdentifier PyUnicode_Join "
     "PyUnicode_Partition PyUnicode_RPartition PyUnicode_RSplit PyUnicode_Replace PyUnicode_Resize "
     "PyUnicode_RichCompare PyUnicode_Split PyUnicode_Splitlines PyUnicode_Tailmatch "
     "PyUnicode_Translate PyUnicode_Type PyWeakref_GetObject PyWeakref_NewProxy PyWeakref_NewRef "
     "PyWrapperDescr_Type PyWrapper_New PyZip_Type Py_AddPendingCall Py_AtExit Py_BuildValue "
     "Py_CompileString Py_DecRef Py_EndInterpreter Py_Exit Py_FatalError Py_FileSystemDefaultEncoding "
     "Py_Finalize Py_GetBuildInfo Py_GetCompiler Py_GetCopyright Py_GetExecPrefix Py_GetPath "
     "Py_GetPlatform Py_GetPrefix Py_GetProgramFullPath Py_GetProgramName Py_GetPythonHome "
     "Py_GetRecursionLimit Py_GetVersion Py_HasFileSystemDefaultEncoding Py_IncRef Py_Initialize "
     "Py_InitializeEx Py_IsInitialized Py_Main Py_MakePendingCalls Py_NewInterpreter Py_ReprEnter "
     "Py_ReprLeave Py_SetProgramName Py_SetPythonHome Py_SetRecursionLimit Py_VaBuildValue "
     "_PyErr_BadInternalCall _PyObject_CallFunction_SizeT _PyObject_CallMethod_SizeT _PyObject_GC_New "
     "_PyObject_GC_NewVar _PyObject_GC_Resize _PyObject_New _PyObject_NewVar _PyState_AddModule "
     "_PyThreadState_Init _PyThreadState_Prealloc _PyWeakref_CallableProxyType _PyWeakref_ProxyType "
     "_PyWeakref_RefType _Py_BuildValue_SizeT _Py_CheckRecursiveCall _Py_Dealloc _Py_EllipsisObject "
     "_Py_FalseStruct _Py_NoneStruct _Py_NotImplementedStruct _Py_SwappedOp _Py_TrueStruct "
     "_Py_VaBuildValue_SizeT"},
    {3,
     "PyState_AddModule PyState_RemoveModule PyThread_GetInfo PyType_FromSpecWithBases "
     "_PyArg_ParseTupleAndKeywords_SizeT _PyArg_ParseTuple_SizeT _PyArg_Parse_SizeT "
     "_PyArg_VaParseTupleAndKeywords_SizeT _PyArg_VaParse_SizeT"},
    {4, "PyCFunction_New PyType_GetSlot"},
    {5, "PyErr_FormatV PyModuleDef_Init PyModuleDef_Type"},
    {6,
     "PyErr_ResourceWarning PyErr_SetImportErrorSubclass PyExc_ModuleNotFoundError PyOS_FSPath "
     "Py_FinalizeEx"},
    {7,
     "PyCodec_NameReplaceErrors PyErr_GetExcInfo PyErr_SetExcInfo "
     "PyErr_SetFromErrnoWithFilenameObjects PyErr_SetImportError PyErr_SyntaxLocationEx "
     "PyExc_BlockingIOError PyExc_BrokenPipeError PyExc_ChildProcessError PyExc_ConnectionAbortedError "
     "PyExc_ConnectionError PyExc_ConnectionRefusedError PyExc_ConnectionResetError "
     "PyExc_FileExistsError PyExc_FileNotFoundError PyExc_InterruptedError PyExc_IsADirectoryError "
     "PyExc_NotADirectoryError PyExc_PermissionError PyExc_ProcessLookupError PyExc_RecursionError "
     "PyExc_ResourceWarning PyExc_StopAsyncIteration PyExc_TimeoutError PyImport_AddModuleObject "
     "PyImport_ExecCodeModuleObject PyImport_ImportFrozenModuleObject PyImport_ImportModuleLevelObject "
     "PyInterpreterState_GetID PyMem_Calloc PyMemoryView_FromMemory PyModule_AddFunctions "
     "PyModule_ExecDef PyModule_FromDefAndSpec2 PyModule_GetNameObject PyModule_NewObject "
     "PyModule_SetDocString PyNumber_InPlaceMatrixMultiply PyNumber_MatrixMultiply "
     "PyOS_AfterFork_Child PyOS_AfterFork_Parent PyOS_BeforeFork PyOS_CheckStack PyObject_Calloc "
     "PyObject_GenericSetDict PySlice_AdjustIndices PySlice_Unpack PySys_AddXOption PySys_GetXOptions "
     "PyThread_tss_alloc PyThread_tss_create PyThread_tss_delete PyThread_tss_free PyThread_tss_get "
     "PyThread_tss_is_created PyThread_tss_set PyUnicode_AsUCS4 PyUnicode_AsUCS4Copy "
     "PyUnicode_AsWideCharString PyUnicode_DecodeLocale PyUnicode_DecodeLocaleAndSize "
     "PyUnicode_EncodeLocale PyUnicode_FindChar PyUnicode_GetLength PyUnicode_ReadChar "
     "PyUnicode_Substring PyUnicode_WriteChar Py_DecodeLocale Py_EncodeLocale Py_SetPath"},
    {8,
     "PyDictRevIterItem_Type PyDictRevIterKey_Type PyDictRevIterValue_Type PyExceptionClass_Name "
     "PyImport_GetModule PyIndex_Check PyInterpreterState_GetDict PyIter_Check Py_BytesMain "
     "Py_UTF8Mode"},
    {9,
     "PyCMethod_New PyInterpreterState_Get PyObject_GC_IsFinalized PyObject_GC_IsTracked "
     "Py_EnterRecursiveCall Py_GenericAlias Py_GenericAliasType Py_LeaveRecursiveCall"},
    {10,
     "PyAIter_Check PyCodec_Unregister PyErr_SetInterruptEx PyExc_EncodingWarning PyFrame_GetCode "
     "PyFrame_GetLineNumber PyGC_Disable PyGC_Enable PyGC_IsEnabled PyIter_Send PyModule_AddObjectRef "
     "PyModule_AddType PyObject_CallNoArgs PyObject_GenericGetDict PyObject_GetAIter "
     "PyThreadState_GetFrame PyThreadState_GetID PyThreadState_GetInterpreter PyType_FromModuleAndSpec "
     "PyType_GetModule PyType_GetModuleState PyUnicode_AsUTF8AndSize Py_FileSystemDefaultEncodeErrors "
     "Py_GetArgcArgv Py_Is Py_IsFalse Py_IsNone Py_IsTrue Py_NewRef Py_XNewRef _Py_DecRef _Py_IncRef "
     "_Py_NegativeRefcount _Py_RefTotal"},
    {11,
     "PyBuffer_FillContiguousStrides PyBuffer_FillInfo PyBuffer_FromContiguous PyBuffer_GetPointer "
     "PyBuffer_IsContiguous PyBuffer_Release PyBuffer_SizeFromFormat PyBuffer_ToContiguous "
     "PyErr_GetHandledException PyErr_SetHandledException PyExc_BaseExceptionGroup "
     "PyMemoryView_FromBuffer PyObject_CheckBuffer PyObject_CopyData PyObject_GetBuffer "
     "PyStructSequence_UnnamedField PyType_GetName PyType_GetQualName Py_Version"},
    {12,
     "PyErr_DisplayException PyErr_GetRaisedException PyErr_SetRaisedException PyException_GetArgs "
     "PyException_SetArgs PyObject_GetTypeData PyObject_Vectorcall PyObject_VectorcallMethod "
     "PyType_FromMetaclass PyType_GetTypeDataSize PyVectorcall_Call PyVectorcall_NARGS"},
    {13,
     "PyDict_GetItemRef PyDict_GetItemStringRef PyEval_GetFrameBuiltins PyEval_GetFrameGlobals "
     "PyEval_GetFrameLocals PyImport_AddModuleRef PyList_GetItemRef PyLong_AsInt "
     "PyMapping_GetOptionalItem PyMapping_GetOptionalItemString PyMapping_HasKeyStringWithError "
     "PyMapping_HasKeyWithError PyMem_RawCalloc PyMem_RawFree PyMem_RawMalloc PyMem_RawRealloc "
     "PyModule_Add PyObject_DelAttr PyObject_DelAttrString PyObject_GetOptionalAttr "
     "PyObject_GetOptionalAttrString PyObject_HasAttrStringWithError PyObject_HasAttrWithError "
     "PySys_Audit PySys_AuditTuple PyType_GetFullyQualifiedName PyType_GetModuleByDef "
     "PyType_GetModuleName PyUnicode_EqualToUTF8 PyUnicode_EqualToUTF8AndSize PyWeakref_GetRef "
     "Py_GetConstant Py_GetConstantBorrowed Py_IsFinalizing _Py_SetRefcnt"},
    {14,
     "PyIter_NextItem PyLong_AsInt32 PyLong_AsInt64 PyLong_AsNativeBytes PyLong_AsUInt32 "
     "PyLong_AsUInt64 PyLong_FromInt32 PyLong_FromInt64 PyLong_FromNativeBytes PyLong_FromUInt32 "
     "PyLong_FromUInt64 PyLong_FromUnsignedNativeBytes PyType_Freeze PyType_GetBaseByToken "
     "PyUnicode_Equal Py_PACK_FULL_VERSION Py_PACK_VERSION Py_REFCNT Py_TYPE"},
    {15,
     "PyABIInfo_Check PyCriticalSection2_Begin PyCriticalSection2_End PyCriticalSection_Begin "
     "PyCriticalSection_End PyDict_SetDefaultRef PyInterpreterGuard_Close "
     "PyInterpreterGuard_FromCurrent PyInterpreterGuard_FromView PyInterpreterView_Close "
     "PyInterpreterView_FromCurrent PyInterpreterView_FromMain PyLongWriter_Create "
     "PyLongWriter_Discard PyLongWriter_Finish PyLong_Export PyLong_FreeExport PyLong_GetNativeLayout "
     "PyModule_Exec PyModule_FromSlotsAndSpec PyModule_GetStateSize PyModule_GetState_DuringGC "
     "PyModule_GetToken PyModule_GetToken_DuringGC PyObject_CallFinalizerFromDealloc "
     "PyObject_GetTypeData_DuringGC PySys_GetAttr PySys_GetAttrString PySys_GetOptionalAttr "
     "PySys_GetOptionalAttrString PyThreadState_Ensure PyThreadState_EnsureFromView "
     "PyThreadState_Release PyType_FromSlots PyType_GetBaseByToken_DuringGC PyType_GetModuleByToken "
     "PyType_GetModuleByToken_DuringGC PyType_GetModuleState_DuringGC PyType_GetModule_DuringGC "
     "Py_IS_TYPE Py_SET_SIZE Py_SIZE"},
    {16, "Py_HashBuffer"},
};

// Symbols that CPython exported before they joined the Stable ABI: a module that uses them loads there,
// without a guarantee. From the interpreters 3.6 to 3.13; 6 means 3.6 or earlier.
constexpr Added exported_before[] = {
    {6,
     "PyBuffer_FillContiguousStrides PyBuffer_FillInfo PyBuffer_FromContiguous PyBuffer_GetPointer "
     "PyBuffer_IsContiguous PyBuffer_Release PyBuffer_ToContiguous PyCodec_NameReplaceErrors "
     "PyErr_GetExcInfo PyErr_SetExcInfo PyErr_SetFromErrnoWithFilenameObjects PyErr_SetImportError "
     "PyErr_SyntaxLocationEx PyExc_BlockingIOError PyExc_BrokenPipeError PyExc_ChildProcessError "
     "PyExc_ConnectionAbortedError PyExc_ConnectionError PyExc_ConnectionRefusedError "
     "PyExc_ConnectionResetError PyExc_FileExistsError PyExc_FileNotFoundError PyExc_InterruptedError "
     "PyExc_IsADirectoryError PyExc_NotADirectoryError PyExc_PermissionError PyExc_ProcessLookupError "
     "PyExc_RecursionError PyExc_ResourceWarning PyExc_StopAsyncIteration PyExc_TimeoutError "
     "PyFrame_GetLineNumber PyImport_AddModuleObject PyImport_ExecCodeModuleObject "
     "PyImport_ImportFrozenModuleObject PyImport_ImportModuleLevelObject PyMem_Calloc PyMem_RawCalloc "
     "PyMem_RawFree PyMem_RawMalloc PyMem_RawRealloc PyMemoryView_FromBuffer PyMemoryView_FromMemory "
     "PyModule_AddFunctions PyModule_ExecDef PyModule_FromDefAndSpec2 PyModule_GetNameObject "
     "PyModule_NewObject PyModule_SetDocString PyNumber_InPlaceMatrixMultiply PyNumber_MatrixMultiply "
     "PyObject_CallFinalizerFromDealloc PyObject_Calloc PyObject_CopyData PyObject_GenericGetDict "
     "PyObject_GenericSetDict PyObject_GetBuffer PySlice_AdjustIndices PySlice_Unpack "
     "PyStructSequence_UnnamedField PySys_AddXOption PySys_GetXOptions PyUnicode_AsUCS4 "
     "PyUnicode_AsUCS4Copy PyUnicode_AsUTF8AndSize PyUnicode_AsWideCharString PyUnicode_DecodeLocale "
     "PyUnicode_DecodeLocaleAndSize PyUnicode_EncodeLocale PyUnicode_FindChar PyUnicode_GetLength "
     "PyUnicode_ReadChar PyUnicode_Substring PyUnicode_WriteChar Py_DecodeLocale Py_EncodeLocale "
     "Py_FileSystemDefaultEncodeErrors Py_GetArgcArgv Py_SetPath"},
    {7, "PyImport_GetModule Py_UTF8Mode"},
    {8, "PySys_Audit PyVectorcall_Call"},
    {9,
     "PyBuffer_SizeFromFormat PyFrame_GetCode PyModule_AddType PyObject_CallNoArgs "
     "PyObject_CheckBuffer PyObject_VectorcallMethod PyThreadState_GetFrame PyThreadState_GetID "
     "PyThreadState_GetInterpreter PyType_FromModuleAndSpec PyType_GetModule PyType_GetModuleState"},
    {11, "PyObject_Vectorcall PyType_GetModuleByDef"},
    {13,
     "PyCriticalSection2_Begin PyCriticalSection2_End PyCriticalSection_Begin PyCriticalSection_End "
     "PyDict_SetDefaultRef PyLong_AsNativeBytes PyLong_FromNativeBytes PyLong_FromUnsignedNativeBytes"},
};

std::unordered_map<std::string_view, unsigned> make_table(std::span<const Added> rows) {
    std::unordered_map<std::string_view, unsigned> table;
    for (const Added& row : rows) {
        for (const std::string_view name : base::split(row.names, ' '))
            table.emplace(name, row.minor);
    }
    return table;
}

}  // namespace

std::optional<unsigned> stable_abi_since(std::string_view symbol) {
    static const std::unordered_map<std::string_view, unsigned> table = make_table(added);
    const auto found = table.find(symbol);
    if (found == table.end()) return std::nullopt;
    return found->second;
}

std::optional<unsigned> exported_since(std::string_view symbol) {
    static const std::unordered_map<std::string_view, unsigned> table = make_table(exported_before);
    const auto found = table.find(symbol);
    return found == table.end() ? stable_abi_since(symbol) : std::optional(found->second);
}

bool is_python_api(std::string_view symbol) {
    if (symbol.starts_with('_')) symbol.remove_prefix(1);
    if (!symbol.starts_with("Py")) return false;
    symbol.remove_prefix(2);
    return !symbol.empty() && (symbol.front() == '_' || (symbol.front() >= 'A' && symbol.front() <= 'Z'));
}

}  // namespace wheelyard::inspect
