import { z } from "@hono/zod-openapi";
import { BLOB_HASH, type TurnChanges, TurnChangesSchema } from "../../protocol/api/contexts";
import type { App, Call } from "../api-env";
import { attachment, OCTETS } from "../attachment";
import { TURN_CHANGES } from "../contexts/context-examples";
import { ApiError } from "../errors";
import { header, ID_TURN, json, type Operation } from "../operation";
import { refuse, route, sessionOf, turnOf } from "../routes";
import { lost, unreadable } from "./session-files";

const CHANGES: Operation = {
  id: "listTurnChanges",
  tag: "Sessions",
  summary: "What a turn's presenter changed in contexts, against the versions it was given",
  description:
    "Nothing while the turn runs, and nothing of one that fails, is cancelled or falls back to an answer.",
  request: { params: ID_TURN },
  answers: {
    200: json("A change set for each context that was changed", TurnChangesSchema, TURN_CHANGES),
  },
  codes: ["bad_id", "session_not_found", "turn_not_found"],
  handle: showChanges,
};

const CONTENTS: Operation = {
  id: "getTurnChange",
  tag: "Sessions",
  summary: "The new contents of a changed file, by their hash",
  description:
    "Whatever it is, it comes as bytes to be kept: never as something to be shown in the service's name.",
  request: {
    params: ID_TURN.extend({ sha256: z.string().describe("As the change set names it") }),
  },
  answers: {
    200: {
      description: "The contents",
      content: { [OCTETS]: { schema: z.string().meta({ format: "binary" }) } },
      headers: header("content-disposition", "`attachment` and the file's name"),
    },
  },
  codes: ["bad_id", "session_not_found", "turn_not_found", "file_not_found", "interrupted"],
  handle: showContents,
};

/** What turns changed in contexts, for whoever brings it home. */
export function turnChangeRoutes(app: App): void {
  const changes = "/api/sessions/{id}/turns/{turn}/changes";
  route(app, changes, { get: CHANGES });
  route(app, `${changes}/blobs/{sha256}`, { get: CONTENTS });
}

async function showChanges(context: Call): Promise<Response> {
  const result = await (await sessionOf(context)).stub.changes(turnOf(context) ?? 0);
  if (!result.ok) refuse(result.code);
  const body: TurnChanges = { object: "list", data: result.changes };
  return context.json(body);
}

async function showContents(context: Call): Promise<Response> {
  const hash = context.req.param("sha256") ?? "";
  if (!BLOB_HASH.test(hash)) throw new ApiError("bad_id", "A hash is a SHA-256 in lower-case hex.");
  const { stub } = await sessionOf(context);
  const result = await stub.changedContents(turnOf(context) ?? 0, hash);
  if (!result.ok) {
    if (result.code === "file_not_found")
      throw new ApiError("file_not_found", "The turn's changes name no such contents.");
    if (result.code === "contents_lost") throw lost();
    if (result.code === "interrupted") throw unreadable();
    return refuse(result.code);
  }
  return attachment(context, hash, new Blob([result.bytes]).stream());
}
