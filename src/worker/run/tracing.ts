// The span of one attempt: a child of the span that submitted the job, so that one trace leads from the request to whatever the
// handler calls. Made only for claims that were taken while the process had an OpenTelemetry SDK.
import { type Attributes, type Context, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Failure } from "../../core/errors/failures.js";
import { contextOf, fanfoldTracer, traceparentOf } from "../../engine/tracing.js";
import type { TaskContext } from "./context.js";

export type AttemptOutcome = "completed" | "failed" | "lost" | "cancelled" | "released";

export class AttemptTrace {
  readonly context: Context;
  readonly traceparent: string | undefined;
  readonly #span: Span;

  constructor(ctx: TaskContext) {
    const { stage } = ctx.claim;
    const parent = contextOf(ctx.given_traceparent);
    const planning = ctx.ordinal < 0;
    const attributes: Attributes = {
      "fanfold.tenant": stage.tenant_id,
      "fanfold.stage": stage.stage,
      "fanfold.task_type": stage.task_type,
      "fanfold.task_id": ctx.task_id,
      "fanfold.index": ctx.index,
      "fanfold.attempt": ctx.attempt,
    };
    if (stage.job_id !== null) attributes["fanfold.job_id"] = stage.job_id;
    if (stage.job_type !== null) attributes["fanfold.job_type"] = stage.job_type;
    if (stage.correlation_id !== null) attributes["fanfold.correlation_id"] = stage.correlation_id;
    const name = planning ? `plan ${stage.stage}` : `task ${stage.task_type}`;
    this.#span = fanfoldTracer().startSpan(name, { kind: SpanKind.CONSUMER, attributes }, parent);
    this.context = trace.setSpan(parent, this.#span);
    this.traceparent = traceparentOf(this.#span);
  }

  end(outcome: AttemptOutcome, failure?: Failure): void {
    this.#span.setAttribute("fanfold.outcome", outcome);
    if (failure !== undefined) {
      this.#span.setAttributes({ "fanfold.category": failure.category, "error.type": failure.code });
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message: failure.message.slice(0, 500) });
    }
    this.#span.end();
  }
}
