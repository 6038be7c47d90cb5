
begin patch
for patch in "$folder"/patches/*; do
    test -e "$patch" || continue # none for this version
    echo "applying ${patch##*/}"
    patch -p1 --forward --batch < "$patch"
done
