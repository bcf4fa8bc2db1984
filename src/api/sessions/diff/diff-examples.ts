import { patchText } from "../../../diff/patch-text";
import type { Diff } from "../../../protocol/api/diff";

/** Examples of a diff, for the OpenAPI document. */

export const DIFF: Diff = {
  object: "diff",
  session_id: "session_01jd2v7w8x9y0z1a2b3c4d5e6f",
  from: {
    reference: "turn_1",
    turn: 1,
    attempt: null,
    label: "agent1.final",
    status: "completed",
  },
  to: { reference: "turn_2", turn: 2, attempt: null, label: "agent2.final", status: "completed" },
  counts: { added: 0, deleted: 0, changed: 1, renamed: 1 },
  data: [
    {
      change: "changed",
      path: "NOTES.md",
      from: {
        sha256: "7509e5bda0c762d2bac7f90d758b5b2263fa01ccbc542ab5e3df163be08e6ca9",
        size: 12,
      },
      to: {
        sha256: "315f5bdb76d078c43b8ac0064e4a0164612b1fce77c869345bfc94c75894edd3",
        size: 13,
      },
      added: 1,
      deleted: 1,
      hunks: [
        {
          ...{ from_start: 1, from_lines: 1, to_start: 1, to_lines: 1 },
          lines: ["-Six is even", "+Six is even."],
        },
      ],
    },
    {
      change: "renamed",
      path: "contexts/site/src/app.js",
      from_path: "contexts/site/app.js",
      from: {
        sha256: "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592",
        size: 43,
      },
      to: {
        sha256: "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592",
        size: 43,
      },
      added: 0,
      deleted: 0,
      hunks: [],
    },
  ],
  more: 0,
  answer: {
    from: {
      sha256: "73475cb40a568e8da8a045ced110137e159f890ac4da883b6b17dc651b3a8049",
      size: 2,
    },
    to: {
      sha256: "9d9595c5d94fb65b824f56e9999527dba9542481580d69feb89056aabaa0aa87",
      size: 19,
    },
    parts: [
      { op: "same", text: "42" },
      { op: "added", text: ", which is even" },
    ],
  },
};

export const PATCH = patchText(DIFF.data, DIFF.more);
