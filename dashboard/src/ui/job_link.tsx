// The beginning of a job's id, which leads to its page.
import { Link } from "wouter";
import { to } from "../routes.js";

export function JobLink({ id }: { id: string | null }) {
  if (id === null) return <span className="muted">–</span>;
  return (
    <Link href={to.job(id)} className="nowrap">
      {id.slice(0, 12)}
    </Link>
  );
}
