// The jobs and handlers that come with Fanfold. Re-exports and two lists; whoever builds a registry puts their own beside.
import { httpRequest } from "../handlers/connectors/http_request.js";
import { reportGenerate } from "../handlers/connectors/report_generate.js";
import { webhookDeliver } from "../handlers/connectors/webhook_deliver.js";
import { filesDigest } from "../handlers/files/digest.js";
import { filesFold } from "../handlers/files/fold.js";
import { filesList } from "../handlers/files/list.js";
import { filesManifest } from "../handlers/files/manifest.js";
import { helloGreet } from "../handlers/hello/greet.js";
import { helloReply } from "../handlers/hello/reply.js";
import { fileDigest } from "./file_digest.js";
import { helloWorld } from "./hello_world.js";

export function builtinRegistry() {
  return {
    jobs: [helloWorld, fileDigest],
    handlers: [
      ...[helloGreet, helloReply, filesList, filesDigest, filesFold, filesManifest],
      ...[httpRequest, webhookDeliver, reportGenerate],
    ],
  };
}
