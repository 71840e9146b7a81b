" Highlighting for .pipe scripts: copy this folder's parent into ~/.vim/pack/halo/start/.
if exists("b:current_syntax")
  finish
endif

syntax keyword pipeKeyword import const fn pipe for in where return and or not
syntax keyword pipeBorder  edge replicate reflect symmetric reflect101 wrap zero constant
syntax keyword pipeBoolean true false
syntax match   pipeType    "\<image\>\ze\s\+\l"
syntax match   pipeType    "\<\(bool\|[ui]\(8\|16\|32\)\|f\(16\|32\)\)\(x[234]\)\?\>"
syntax match   pipeNumber  "\<\(0[xX][0-9A-Fa-f_]\+\|\d[0-9_]*\(\.\d[0-9_]*\)\?\([eE][+-]\?[0-9_]\+\)\?\)\>"
syntax match   pipeCall    "\<\h\w*\ze("
syntax match   pipeHint    "@\h\w*"
syntax region  pipeString  start=+"+ end=+"+ oneline
syntax match   pipeComment "#.*$"
syntax match   pipeDoc     "##.*$"

setlocal commentstring=#\ %s

highlight default link pipeKeyword Keyword
highlight default link pipeBorder  Constant
highlight default link pipeBoolean Boolean
highlight default link pipeType    Type
highlight default link pipeNumber  Number
highlight default link pipeCall    Function
highlight default link pipeHint    PreProc
highlight default link pipeString  String
highlight default link pipeComment Comment
highlight default link pipeDoc     SpecialComment

let b:current_syntax = "pipe"
