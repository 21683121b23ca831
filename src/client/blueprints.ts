// Job types: those the service knows, and those saved as data.
import { blueprints_api } from "../core/api/blueprints.js";
import type { BodyIn } from "../core/api/endpoint.js";
import type { Asking } from "./operate.js";
import type { Transport } from "./transport.js";

export type BlueprintDeclaration = BodyIn<typeof blueprints_api.save>;

export class Blueprints {
  constructor(private readonly transport: Transport) {}

  async list(options: Asking = {}) {
    return (await this.transport.call(blueprints_api.list, options)).blueprints;
  }

  get(job_type: string, options: Asking = {}) {
    return this.transport.call(blueprints_api.get, { params: { job_type }, ...options });
  }

  /** All problems at once, as a DeclarationError. */
  save(job_type: string, declaration: BlueprintDeclaration, options: Asking = {}) {
    return this.transport.call(blueprints_api.save, { params: { job_type }, body: declaration, ...options });
  }

  validate(declaration: BodyIn<typeof blueprints_api.validate>, options: Asking = {}) {
    return this.transport.call(blueprints_api.validate, { body: declaration, ...options });
  }

  remove(job_type: string, { signal, ...body }: Asking & { reason?: string; actor?: string } = {}) {
    const asking = { signal };
    return this.transport.call(blueprints_api.remove, { params: { job_type }, body, ...asking });
  }
}
