// Reads server-sent events out of text as it comes, in pieces cut anywhere, as the HTML standard parses them. Pure.
import { ContractViolation } from "../core/errors/errors.js";

export interface ServerEvent {
  /** The last id that was sent, with this event or before it. */
  id: string;
  /** "message" when none was named. */
  event: string;
  data: string;
}

/** An event is a record or two; a server that sends more is not Fanfold. */
const most_characters = 4 * 1024 * 1024;

export class EventReader {
  #rest = "";
  #started = false;
  #after_cr = false;
  #id = "";
  #event = "";
  #data: string[] = [];
  #size = 0;
  #retry_ms: number | null = null;

  /** The last event id: what a new connection asks to go on from. */
  get last_id(): string {
    return this.#id;
  }

  /** How long the server asked to wait before a new connection; null: it did not. */
  get retry_ms(): number | null {
    return this.#retry_ms;
  }

  /** The events that are complete with this piece of text. */
  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    let piece = text;
    if (!this.#started && piece !== "") {
      this.#started = true;
      if (piece.startsWith("\ufeff")) piece = piece.slice(1);
    }
    // A CR LF that is cut in two is one end of line.
    if (this.#after_cr && piece !== "") {
      this.#after_cr = false;
      if (piece.startsWith("\n")) piece = piece.slice(1);
    }
    let from = 0;
    for (const { index, 0: end } of piece.matchAll(/\r\n|\n|\r/g)) {
      const event = this.#line(this.#rest + piece.slice(from, index));
      this.#rest = "";
      if (event !== null) events.push(event);
      from = index + end.length;
      if (end === "\r" && from === piece.length) this.#after_cr = true;
    }
    this.#rest += piece.slice(from);
    if (this.#rest.length + this.#size > most_characters) {
      throw new ContractViolation("the server sent an event that is too large to be one");
    }
    return events;
  }

  #line(line: string): ServerEvent | null {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") {
      this.#data.push(value);
      this.#size += value.length + 1;
    } else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d{1,9}$/.test(value)) this.#retry_ms = Number(value);
    return null;
  }

  #dispatch(): ServerEvent | null {
    const [event, data] = [this.#event === "" ? "message" : this.#event, this.#data];
    this.#event = "";
    this.#data = [];
    this.#size = 0;
    return data.length === 0 ? null : { id: this.#id, event, data: data.join("\n") };
  }
}
