// Addresses of what the page shows: for a person, for a program, and for a map that sends no key.
import { useQuery } from "@tanstack/react-query";
import { type ApiProblem, request, urlOf } from "../../api/call.js";
import { CommandLine, Dialog, ProblemNote, Skeleton } from "../../ui/index.js";
import type { WholeLayer } from "./layer_page.js";

interface Tileset {
  links: { rel: string; href: string }[];
}

export function ShareDialog({ layer, filter, onClose }: { layer: WholeLayer; filter: string; onClose(): void }) {
  const params = { name: layer.name };
  const { data, error } = useQuery<string | null, ApiProblem>({
    queryKey: ["layer tileset", layer.name],
    enabled: layer.geometry_type !== null,
    // What is signed is good for a while only.
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const answer = await request("GET", "/ogc/collections/{name}/tiles/WebMercatorQuad", { params, signal });
      const { links } = (await answer.json()) as Tileset;
      return links.find(({ rel }) => rel === "describedby")?.href ?? null;
    },
  });
  const is_signed = data?.includes("signature=") === true;
  return (
    <Dialog title="Share" onClose={onClose} wide>
      <p>This page, with its filter, its colours and its place. A reader who opens it signs in first.</p>
      <CommandLine label="Page" text={window.location.href} />
      <p>The features as GeoJSON, for a program with a key, and as a page.</p>
      <CommandLine label="API" text={urlOf("/ogc/collections/{name}/items", { params, query: { filter } })} />
      <CommandLine
        label="HTML"
        text={urlOf("/ogc/collections/{name}/items", { params, query: { filter, f: "html" } })}
      />
      {layer.geometry_type !== null && (
        <>
          <p>
            {is_signed
              ? "Vector tiles for a map of one's own, as TileJSON. This address needs no key: anyone who has it sees the layer until it expires."
              : "Vector tiles for a map of one's own, as TileJSON."}
          </p>
          <ProblemNote error={error} />
          {data === undefined && error === null && <Skeleton lines={1} />}
          {typeof data === "string" && <CommandLine label="Tiles" text={data} />}
        </>
      )}
      <p>In QGIS or GDAL: an OGC API Features connection to this address, with the key as a bearer token.</p>
      <CommandLine label="OGC" text={urlOf("/ogc")} />
    </Dialog>
  );
}
