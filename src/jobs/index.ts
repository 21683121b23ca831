// The jobs, handlers and recipes that come with Fanfold. Re-exports and two lists; a program that builds a registry puts its own beside.
import { httpRequest } from "../handlers/connectors/http_request.js";
import { reportGenerate } from "../handlers/connectors/report_generate.js";
import { webhookDeliver } from "../handlers/connectors/webhook_deliver.js";
import { webhookTell } from "../handlers/connectors/webhook_tell.js";
import { echoGive } from "../handlers/echo/echo.js";
import { exportMosaic } from "../handlers/export/handlers/mosaic.js";
import { exportPlanMosaic } from "../handlers/export/handlers/plan_mosaic.js";
import { exportPublish } from "../handlers/export/handlers/publish.js";
import { exportPublishStac } from "../handlers/export/handlers/publish_stac.js";
import { exportSnapshot } from "../handlers/export/handlers/snapshot.js";
import { exportWriteStac } from "../handlers/export/handlers/write_stac.js";
import { exportWriteVector } from "../handlers/export/handlers/write_vector.js";
import { filesDigest } from "../handlers/files/digest.js";
import { filesFold } from "../handlers/files/fold.js";
import { filesList } from "../handlers/files/list.js";
import { filesManifest } from "../handlers/files/manifest.js";
import { h3FillCascade } from "../handlers/h3/handlers/fill_cascade.js";
import { h3FillGrid } from "../handlers/h3/handlers/fill_grid.js";
import { h3FoldCells } from "../handlers/h3/handlers/fold_cells.js";
import { h3InspectRasters } from "../handlers/h3/handlers/inspect_rasters.js";
import { h3PlanCascade } from "../handlers/h3/handlers/plan_cascade.js";
import { h3PlanFold } from "../handlers/h3/handlers/plan_fold.js";
import { h3PlanGrid } from "../handlers/h3/handlers/plan_grid.js";
import { h3PlanRaster } from "../handlers/h3/handlers/plan_raster.js";
import { h3PlanVector } from "../handlers/h3/handlers/plan_vector.js";
import { h3TallyRaster } from "../handlers/h3/handlers/tally_raster.js";
import { h3TallyVector } from "../handlers/h3/handlers/tally_vector.js";
import { helloGreet } from "../handlers/hello/greet.js";
import { helloReply } from "../handlers/hello/reply.js";
import { rasterCheckAlike } from "../handlers/raster/handlers/check_alike.js";
import { rasterCogTile } from "../handlers/raster/handlers/cog_tile.js";
import { rasterGroupBands } from "../handlers/raster/handlers/group_bands.js";
import { rasterInspect } from "../handlers/raster/handlers/inspect.js";
import { rasterInventory } from "../handlers/raster/handlers/inventory.js";
import { rasterListLayers } from "../handlers/raster/handlers/list_layers.js";
import { rasterPlanTiles } from "../handlers/raster/handlers/plan_tiles.js";
import { rasterStack } from "../handlers/raster/handlers/stack.js";
import { rasterValidate } from "../handlers/raster/handlers/validate.js";
import { stacConcludeRemoval } from "../handlers/stac/conclude_removal.js";
import { stacFinalize } from "../handlers/stac/finalize.js";
import { stacPrepare } from "../handlers/stac/prepare.js";
import { stacRegister } from "../handlers/stac/register.js";
import { stacRemoveItems } from "../handlers/stac/remove_items.js";
import { stacSelectItems } from "../handlers/stac/select_items.js";
import { vectorConclude } from "../handlers/vector/handlers/conclude.js";
import { vectorInspect } from "../handlers/vector/handlers/inspect.js";
import { vectorLoad } from "../handlers/vector/handlers/load.js";
import { vectorPlan } from "../handlers/vector/handlers/plan.js";
import { vectorPublish } from "../handlers/vector/handlers/publish.js";
import { vectorRemove } from "../handlers/vector/handlers/remove.js";
import { builtin_recipes } from "../platform/index.js";
import { cascadeH3 } from "./cascade_h3.js";
import { createH3Grid } from "./create_h3_grid.js";
import { echo } from "./echo.js";
import { exportCollection } from "./export_collection.js";
import { exportStac } from "./export_stac.js";
import { exportVector } from "./export_vector.js";
import { fileDigest } from "./file_digest.js";
import { helloWorld } from "./hello_world.js";
import { processRaster } from "./process_raster.js";
import { processRasterCollection } from "./process_raster_collection.js";
import { processRasterLayers } from "./process_raster_layers.js";
import { processVector } from "./process_vector.js";
import { rasterToH3 } from "./raster_to_h3.js";
import { registerRasters } from "./register_rasters.js";
import { stackBands } from "./stack_bands.js";
import { unpublishExport } from "./unpublish_export.js";
import { unpublishRaster } from "./unpublish_raster.js";
import { unpublishVector } from "./unpublish_vector.js";
import { validateRaster } from "./validate_raster.js";
import { validateRasters } from "./validate_rasters.js";
import { vectorToH3 } from "./vector_to_h3.js";

const raster_jobs = [
  validateRaster,
  validateRasters,
  processRaster,
  processRasterCollection,
  processRasterLayers,
  stackBands,
  registerRasters,
  unpublishRaster,
];

const raster_handlers = [
  rasterInventory,
  rasterListLayers,
  rasterValidate,
  rasterPlanTiles,
  rasterCheckAlike,
  rasterCogTile,
  rasterGroupBands,
  rasterStack,
  rasterInspect,
  stacPrepare,
  stacRegister,
  stacFinalize,
  stacSelectItems,
  stacRemoveItems,
  stacConcludeRemoval,
];

const vector_jobs = [processVector, unpublishVector];

const vector_handlers = [vectorInspect, vectorPlan, vectorLoad, vectorPublish, vectorConclude, vectorRemove];

const export_jobs = [exportVector, exportStac, exportCollection, unpublishExport];

const export_handlers = [
  exportSnapshot,
  exportWriteVector,
  exportPublish,
  exportWriteStac,
  exportPublishStac,
  exportPlanMosaic,
  exportMosaic,
];

const h3_jobs = [createH3Grid, cascadeH3, rasterToH3, vectorToH3];

const h3_handlers = [
  h3PlanGrid,
  h3FillGrid,
  h3PlanCascade,
  h3FillCascade,
  h3InspectRasters,
  h3PlanRaster,
  h3TallyRaster,
  h3PlanVector,
  h3TallyVector,
  h3PlanFold,
  h3FoldCells,
];

export function builtinRegistry() {
  return {
    jobs: [helloWorld, echo, fileDigest, ...raster_jobs, ...vector_jobs, ...export_jobs, ...h3_jobs],
    handlers: [
      helloGreet,
      helloReply,
      echoGive,
      filesList,
      filesDigest,
      filesFold,
      filesManifest,
      httpRequest,
      webhookDeliver,
      webhookTell,
      reportGenerate,
      ...raster_handlers,
      ...vector_handlers,
      ...export_handlers,
      ...h3_handlers,
    ],
    recipes: builtin_recipes,
  };
}
