// What handlers find out about this machine once for all of their processes: asked by the first task, kept as long as the worker.
import type { HandlerOptions } from "../../core/declare/declare.js";
import type { RasterSettings } from "../../core/task/raster_settings.js";

type Prepare = NonNullable<HandlerOptions["prepare"]>;

export class Prepared {
  private readonly known = new Map<Prepare, Promise<RasterSettings>>();

  /** A process that is given nothing finds out by itself, so a failure here is none. */
  async of(prepare: Prepare, raster: RasterSettings): Promise<RasterSettings> {
    const asked = this.known.get(prepare) ?? this.ask(prepare, raster);
    const found = await asked.catch(() => raster);
    // What is not there may be installed meanwhile.
    if (found === raster) this.known.delete(prepare);
    return found;
  }

  private ask(prepare: Prepare, raster: RasterSettings): Promise<RasterSettings> {
    const asked = prepare(raster);
    this.known.set(prepare, asked);
    return asked;
  }
}
