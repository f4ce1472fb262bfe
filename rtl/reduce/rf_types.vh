// What an element type is, by its number in the registers. For inclusion in a module.

function is_half;
  input [3:0] f_type;
  is_half = f_type == 4'd1 || f_type == 4'd2;
endfunction

function is_float;
  input [3:0] f_type;
  is_float = f_type <= 4'd2 || f_type == 4'd7;
endfunction

function is_wide;
  input [3:0] f_type;
  is_wide = f_type == 4'd5 || f_type == 4'd6 || f_type == 4'd7;
endfunction

function is_byte;
  input [3:0] f_type;
  is_byte = f_type == 4'd8 || f_type == 4'd9;
endfunction

function is_unsigned;
  input [3:0] f_type;
  is_unsigned = f_type == 4'd4 || f_type == 4'd6 || f_type == 4'd9;
endfunction
