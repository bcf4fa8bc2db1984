import * as z from "zod";
import { lazy } from "../../../async/lazy";
import { DIFF_LIMITS } from "../../../diff/diff-limits";
import { DiffSchema, JSON_TYPE, PATCH_TYPE } from "../../../protocol/api/diff";
import type { App } from "../../api-env";
import { ID, json, type Operation } from "../../operation";
import { route } from "../../routes";
import { DIFF, PATCH } from "./diff-examples";

/** It contains the comparison of files. */
const handler = lazy(() => import("./show-diff"));

const reference = z
  .string()
  .regex(/^(parent|turn_[1-9]\d{0,8}(\/(attempt_[1-9]\d{0,3}\/)?agent[1-9]\d?\.(\d+|final))?)$/)
  .optional();
const QUERY = z.object({
  from: reference.describe(
    "The old point: `parent` (the parent of the other reference's turn), `turn_2`, `turn_2/agent1.1` or `turn_2/attempt_1/agent1.1`. Default: `parent`",
  ),
  to: reference.describe("The new point, in the same forms. Default: the latest completed turn"),
  format: z
    .enum(["json", "diff"])
    .optional()
    .describe("Format of the response. Default: as `accept` prefers, else `json`"),
});

const OPERATION: Operation = {
  id: "getDiff",
  tag: "Sessions",
  summary: "What changed between two points of a session: files with hunks, and answers by words",
  description: `A turn has the files and the final answer as it ended; without a result, the files that it began with. An answer has its own files, and the contexts as its turn began with them. Without attempt, the latest attempt that has the label counts. The parent of the first turn has no files and no answer. If only one point has a context, the user's version is the other side. Renamed files have equal contents. Binary files, files over 1 MB, and files whose comparison needs too many steps are given by size and hash. At most ${DIFF_LIMITS.files.toLocaleString("en-US")} files are listed. \`${PATCH_TYPE}\` has the files only, for \`git apply\`.`,
  request: { params: ID, query: QUERY },
  responses: {
    200: {
      ...json("The differences", DiffSchema, DIFF),
      content: {
        [JSON_TYPE]: { schema: DiffSchema, example: DIFF },
        [PATCH_TYPE]: { schema: z.string(), example: PATCH },
      },
    },
  },
  codes: ["bad_id", "bad_query", "session_not_found", "reference_not_found", "interrupted"],
  handle: (context) => handler().then(({ showDiff }) => showDiff(context)),
};

/** The route that compares two points of a session. */
export function diffRoutes(app: App): void {
  route(app, "/api/sessions/{id}/diff", { get: OPERATION });
}
