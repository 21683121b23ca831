// What the API tells of requests, by short names. Types only.
import type { Reply } from "../../api/call.js";

export type Request = Reply<"requests.status">;
export type RequestJob = Request["jobs"][number];
export type RequestSummary = Reply<"requests.list">["requests"][number];
export type Service = NonNullable<NonNullable<Request["result_data"]>["services"]>[number];
export type Recipe = Reply<"recipes.list">["recipes"][number];
export type Review = Reply<"requests.review">;
export type ReviewSide = Review["now"];
export type RequestEvent = Reply<"requests.events">["events"][number];
export type Release = NonNullable<Review["release"]>;
export type Unpublished = Reply<"releases.unpublish">;
