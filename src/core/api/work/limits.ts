// What the worker protocol bounds, each number once: the code that refuses and the document that tells read them here. Pure.
import { PARAMETER_BYTES } from "../../declare/planned_task.js";
import { max_message_bytes, max_stack_bytes } from "../../errors/failures.js";
import { max_deliverables } from "../../task/deliverable.js";
import { max_log_bytes, max_log_lines, max_log_message } from "../../task/log_line.js";
import { json_limits } from "../../values/json_values.js";
import { max_effects, max_enqueued } from "./effects.js";

/** Bytes of a result as JSON text. More goes into storage, and a reference is the result. */
export const largest_result = 1024 * 1024;
/** Bytes of next_stage_params as JSON text. */
export const largest_hand_over = 256 * 1024;
/** Bytes of a finish: so many results of some size. */
export const largest_finish = 16 * 1024 * 1024;
export const most_finished = 1000;
/** Tasks and bytes of one page of a plan. */
export const most_planned = 5000;
export const largest_plan_page = 16 * 1024 * 1024;
/** The most bytes of one part of a file that is sent to the server: a call must be over within a minute. */
export const part_bytes = 8 * 1024 * 1024;
export const largest_part = 64 * 1024 * 1024;
/** What S3 takes in one PUT; Azure takes as much. */
export const largest_signed_upload = 5_000_000_000;
export const largest_upload = 1024 ** 4;
/** The largest spilled result: a task has to read it whole. */
export const largest_spill = 512 * 1024 * 1024;
/** The largest spilled result that is sent within a page; a larger one is read by its own address. */
export const largest_inline_spill = 8 * 1024 * 1024;

export const protocol_limits = {
  result_bytes: largest_result,
  spill_bytes: largest_spill,
  inline_spill_bytes: largest_inline_spill,
  next_stage_params_bytes: largest_hand_over,
  parameters_bytes: PARAMETER_BYTES,
  deliverables: max_deliverables,
  effects: max_effects,
  enqueued_tasks: max_enqueued,
  finish_tasks: most_finished,
  finish_bytes: largest_finish,
  claim_tasks: 1000,
  claim_wait_s: 20,
  known_stages: 100,
  heartbeat_claims: 10_000,
  plan_page_tasks: most_planned,
  plan_page_bytes: largest_plan_page,
  error_message_bytes: max_message_bytes,
  error_stack_bytes: max_stack_bytes,
  error_detail_bytes: 16 * 1024,
  log_lines_per_attempt: max_log_lines,
  log_bytes_per_attempt: max_log_bytes,
  log_message_characters: max_log_message,
  log_lines_per_call: 2000,
  progress_message_characters: 500,
  part_bytes,
  largest_part_bytes: largest_part,
  signed_upload_bytes: largest_signed_upload,
  upload_bytes: largest_upload,
  zone_read_bytes: 4 * 1024 * 1024,
  json_depth: json_limits.max_depth,
  default_timeout_s: 1800,
  lease_s: { least: 5, most: 3600, usual: 30 },
} as const;
