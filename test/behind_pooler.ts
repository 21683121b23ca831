// What `npm run test:pooler` leaves out, and why. Everything else of the engine, the worker, the server and the faults holds behind
// PgBouncer in transaction mode as it does on the server itself.

export const is_pooled = Boolean(process.env.FANFOLD_TEST_POOLER);

const unheard = "nothing that is notified arrives there";
const lent = "which session serves a connection is the pooler's affair";
const full = "the pooler waits for a connection to the server, and not we";
const bounded = "a statement outside a transaction has the bounds of its role";
const kept = "what a role is given reaches sessions that begin after it, and the pooler keeps those it has";

const left_out = {
  "hears notifications of its channels, also with odd names and long payloads, until stopped": unheard,
  "does not hear what was rolled back": unheard,
  "a listener listens again after its connection is lost, says so, and hears what comes then": unheard,
  "who listens for work hears of others' types no more than a hash": unheard,
  "after a LISTEN that failed it listens again a few seconds later, and rings": unheard,
  "waits for a hint after one look where it was idle, and then looks at the one type that came": unheard,
  "F10 the connection for LISTEN is half open": unheard,
  "F35 a cancel in the middle of a fan-out, and its planner does not hear of it": unheard,
  "an idle connection that was lost is not noticed by the next statement": lent,
  "a connection to a server that became read-only is given up": lent,
  "what is done aside leaves the first connection to the others, and shares the only one": lent,
  "a worker that has stopped leaves no connection": lent,
  "a server without a free connection is asked again until it has one": full,
  "a server that stays full is an error with its SQLSTATE after a few seconds": full,
  "an address where nobody listens, or somebody hangs up, is a clear error and not an endless loop":
    "a database that is not there is told with another SQLSTATE",
  "a worker that is killed and started again and again is taken every time, and those that are connected count": lent,
  "WORKER_SILENT: why and the list of workers say for how long, and not that the job moves": lent,
  "connections of ours have bounds of their own, whatever their role has": bounded,
  "what somebody has set stays; migrate gives the rest to roles that were mapped before": kept,
  "a statement that takes too long is given up and told as 503; what works has bounds of its own": bounded,
  "F11 SIGSTOP of a worker for three leases, then SIGCONT":
    "a statement that is not prepared goes out in two parts, and a worker that is frozen never sends the second",
};

/** The names of all others. */
export const holds_behind_pooler = new RegExp(
  `^(?!.*(?:${Object.keys(left_out)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|")}))`,
);
