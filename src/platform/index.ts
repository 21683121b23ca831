// The recipes that come with Fanfold: how a request for a kind of data becomes jobs.
import { rasterRecipe } from "./raster.js";
import { rasterCollectionRecipe } from "./raster_collection.js";
import { vectorRecipe } from "./vector.js";

export const builtin_recipes = [rasterRecipe, rasterCollectionRecipe, vectorRecipe];
