// ctx in the process of a handler whose worker came over HTTP: what is to be written with the finish is declared, and storage is whatever
// the worker was given.
import { type Effect, max_effects } from "../../core/api/work/effects.js";
import { Permanent } from "../../core/errors/errors.js";
import type { Store } from "../../core/places/store.js";
import { type Channel, ChildContext } from "./child_context.js";
import type { TaskOrder } from "./messages.js";

export class RemoteChildContext extends ChildContext {
  private declared = 0;

  constructor(
    private readonly given: TaskOrder,
    private readonly to_worker: Channel,
  ) {
    super(given, to_worker);
  }

  override get storage(): Store {
    return this.services.store;
  }

  /** See declareEffect of fanfold/client. */
  effect(effect: Effect): void {
    if (this.declared++ === max_effects) throw new Permanent(`a task may declare ${max_effects} effects`);
    this.to_worker.send({ t: "effect", run: this.given.run, effect });
  }
}
