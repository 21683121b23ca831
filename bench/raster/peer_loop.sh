#!/bin/sh
# One raster as a shell loop does it with GDAL's programs: a COG, its statistics, a picture, a checksum.
# peer_loop.sh SOURCE FOLDER TARGET_CRS (or "source")
set -eu
name=$(basename "$1" .tif)
cog="$2/$name.cog.tif"
options="-of COG -co COMPRESS=DEFLATE -co PREDICTOR=YES -co NUM_THREADS=1 -co OVERVIEW_RESAMPLING=AVERAGE"
if [ "$3" = source ]; then
  gdal_translate -q $options "$1" "$cog"
else
  gdalwarp -q -t_srs "$3" -r bilinear $options "$1" "$cog"
fi
gdalinfo -json -stats "$cog" > "$2/$name.json"
gdal_translate -q -of PNG -b 1 -ot Byte -scale -outsize 512 0 "$cog" "$2/$name.png"
sha256sum "$cog" > "$2/$name.sha256"
