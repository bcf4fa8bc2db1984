import * as z from "zod";
import { BLOB_HASH, type TurnChanges, TurnChangesSchema } from "../../protocol/api/contexts";
import type { App, Call } from "../api-env";
import { attachment, OCTETS } from "../attachment";
import { TURN_CHANGES } from "../contexts/context-examples";
import { ApiError } from "../errors";
import { header, ID_TURN, json, type Operation } from "../operation";
import { refuse, route, sessionOf, turnOf } from "../routes";
import { lostError, unreadableError } from "./session-file-routes";

const CHANGES: Operation = {
  id: "listTurnChanges",
  tag: "Sessions",
  summary: "Changes of a turn in contexts, compared with the versions that it started from",
  description:
    "Empty while the turn is running, and for a turn that failed or was cancelled. If another text replaced the presentation, the changes are those that the turn started with.",
  request: { params: ID_TURN },
  responses: {
    200: json(
      "One change set per context of the turn; its list is empty without changes",
      TurnChangesSchema,
      TURN_CHANGES,
    ),
  },
  codes: ["bad_id", "session_not_found", "turn_not_found"],
  handle: showChanges,
};

const CONTENTS: Operation = {
  id: "getTurnChange",
  tag: "Sessions",
  summary: "New contents of a changed file, by hash",
  description: "Sent as a download with a neutral type, so that browsers do not show or run it.",
  request: {
    params: ID_TURN.extend({
      sha256: z.string().describe("SHA-256 of the contents, as in the change set"),
    }),
  },
  responses: {
    200: {
      description: "The contents",
      content: { [OCTETS]: { schema: z.string().meta({ format: "binary" }) } },
      headers: header("content-disposition", "`attachment` with the file name"),
    },
  },
  codes: ["bad_id", "session_not_found", "turn_not_found", "file_not_found", "interrupted"],
  handle: showContents,
};

/** Changes of turns in contexts, for clients that apply them to local files. */
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
  if (!BLOB_HASH.test(hash))
    throw new ApiError("bad_id", "The hash must be a SHA-256 in lower-case hex.");
  const { stub } = await sessionOf(context);
  const result = await stub.changedContents(turnOf(context) ?? 0, hash);
  if (!result.ok) {
    if (result.code === "file_not_found")
      throw new ApiError(
        "file_not_found",
        "The changes of this turn have no contents with this hash.",
      );
    if (result.code === "contents_lost") throw lostError();
    if (result.code === "interrupted") throw unreadableError();
    return refuse(result.code);
  }
  return attachment(context, hash, new Blob([result.bytes]).stream());
}
