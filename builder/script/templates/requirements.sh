
begin requirements
cd "$build"/tree/{{source}}
