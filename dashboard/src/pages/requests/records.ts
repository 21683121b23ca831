// What the API tells of requests, by short names. Types only.
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { recipes_api } from "../../../../src/core/api/platform/recipes.js";
import type { releases_api } from "../../../../src/core/api/platform/releases.js";
import type { requests_api } from "../../../../src/core/api/platform/requests.js";
import type { reviews_api } from "../../../../src/core/api/platform/reviews.js";

export type Request = ReplyOf<typeof requests_api.status>;
export type RequestJob = Request["jobs"][number];
export type RequestSummary = ReplyOf<typeof requests_api.list>["requests"][number];
export type Service = NonNullable<NonNullable<Request["result_data"]>["services"]>[number];
export type Recipe = ReplyOf<typeof recipes_api.list>["recipes"][number];
export type Review = ReplyOf<typeof reviews_api.review>;
export type ReviewSide = Review["now"];
export type RequestEvent = ReplyOf<typeof reviews_api.events>["events"][number];
export type Release = NonNullable<Review["release"]>;
export type Unpublished = ReplyOf<typeof releases_api.unpublish>;
