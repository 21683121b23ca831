// The picture of an item, from this server only. Fetched and not linked: a store elsewhere would answer with an address of its own, and
// the page loads nothing from other places; then, and for pictures elsewhere, there is a link.
import { useEffect, useRef, useState } from "react";
import { Safe } from "../../ui/index.js";
import { ownAsset, pictureOf, type StacItem, titleOf, webLink } from "./items.js";

const MOST_BYTES = 20 * 1024 * 1024;

type Loaded = { state: "waiting" } | { state: "shown"; blob: Blob } | { state: "elsewhere" | "failed" };

/** `wanted`: not before it comes into view. */
export function usePicture(item: StacItem | null, wanted = true): Loaded {
  const href = item === null ? undefined : pictureOf(item)?.href;
  const [loaded, setLoaded] = useState<{ href: string; result: Loaded } | null>(null);
  useEffect(() => {
    if (href === undefined || !wanted) return;
    const leave = new AbortController();
    read(href, leave.signal)
      .then((result) => setLoaded({ href, result }))
      .catch(() => {
        if (!leave.signal.aborted) setLoaded({ href, result: { state: "failed" } });
      });
    return () => leave.abort();
  }, [href, wanted]);
  return loaded !== null && loaded.href === href ? loaded.result : { state: "waiting" };
}

async function read(href: string, signal: AbortSignal): Promise<Loaded> {
  const url = ownAsset(href);
  if (url === null) return { state: "elsewhere" };
  const response = await fetch(url, { signal, redirect: "manual", credentials: "same-origin" });
  if (response.type === "opaqueredirect") return { state: "elsewhere" };
  const type = response.headers.get("content-type") ?? "";
  const bytes = Number(response.headers.get("content-length") ?? 0);
  if (!response.ok || !/^image\/(png|jpeg|webp)\b/.test(type) || bytes > MOST_BYTES) return { state: "failed" };
  return { state: "shown", blob: await response.blob() };
}

export function Quicklook({ item, large = false }: { item: StacItem; large?: boolean }) {
  const frame = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState(large);
  useEffect(() => {
    if (seen || frame.current === null) return;
    const watcher = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: "200px" },
    );
    watcher.observe(frame.current);
    return () => watcher.disconnect();
  }, [seen]);
  const picture = pictureOf(item);
  const loaded = usePicture(item, seen);
  const link = picture === null ? null : webLink(picture.href);
  return (
    <figure ref={frame} className={large ? "quicklook large" : "quicklook"}>
      {picture === null ? (
        <span className="muted">no picture</span>
      ) : loaded.state === "shown" ? (
        <BlobImage blob={loaded.blob} alt={`Quicklook of ${titleOf(item)}`} />
      ) : loaded.state === "waiting" ? (
        <span className="muted">…</span>
      ) : (
        <span className="muted">
          {loaded.state === "elsewhere" ? "The picture lies elsewhere" : "The picture cannot be shown"}
          {link !== null && (
            <>
              {": "}
              <a href={link} target="_blank" rel="noreferrer noopener">
                <Safe text={new URL(link).host} limit={60} />
              </a>
            </>
          )}
        </span>
      )}
    </figure>
  );
}

function BlobImage({ blob, alt }: { blob: Blob; alt: string }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url === null ? null : <img src={url} alt={alt} />;
}
