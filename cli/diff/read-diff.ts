import * as z from "zod";
import { NOT_COMPARED_REASONS } from "../../src/protocol/api/diff";
import { parseReference, REFERENCE_FORMS } from "../../src/diff/references";
import { CliError, EXIT } from "../exit-codes";
import { type Answer, readAnswer } from "../service/call-service";
import type { RequestContext } from "../service/problem";

const PointSchema = z.object({ reference: z.string(), turn: z.number().nullable() });
const SideSchema = z.object({
  sha256: z.string(),
  size: z.number(),
  executable: z.boolean().optional(),
});
const HunkSchema = z.object({
  from_start: z.number(),
  from_lines: z.number(),
  to_start: z.number(),
  to_lines: z.number(),
  lines: z.array(z.string()),
});
const ReasonSchema = z.enum(NOT_COMPARED_REASONS).or(z.string()).optional();

/** The fields of a diff that the command line reads. */
const DiffFactsSchema = z.object({
  from: PointSchema,
  to: PointSchema,
  counts: z.record(z.string(), z.number()),
  data: z.array(
    z.object({
      change: z.enum(["added", "deleted", "changed", "renamed"]),
      path: z.string(),
      from_path: z.string().optional(),
      from: SideSchema.nullable(),
      to: SideSchema.nullable(),
      added: z.number().nullable(),
      deleted: z.number().nullable(),
      hunks: z.array(HunkSchema),
      not_compared: ReasonSchema,
    }),
  ),
  more: z.number().default(0),
  unavailable_contexts: z.array(z.string()).default([]),
  answer: z
    .object({
      from: SideSchema.nullable(),
      to: SideSchema.nullable(),
      parts: z
        .array(z.object({ op: z.enum(["same", "deleted", "added"]), text: z.string() }))
        .nullable(),
      not_compared: ReasonSchema,
    })
    .nullable(),
});
export type DiffFacts = z.infer<typeof DiffFactsSchema>;
export type DiffFileFacts = DiffFacts["data"][number];

/** Two points of a session. Omitted: the latest completed turn, and its parent. */
export type DiffPlace = {
  session: string;
  from?: string | undefined;
  to?: string | undefined;
};

/** Reads the differences between two points. Throws CliError. */
export const readDiff = (
  { session, from, to }: DiffPlace,
  context: RequestContext,
): Promise<Answer<DiffFacts>> =>
  readAnswer(context, DiffFactsSchema, ({ sessions }) => sessions.diff(session, { from, to }));

/** Whether a text can only be a reference to a point, and no reference to a session. */
export const isPointReference = (text: string): boolean => parseReference(text) !== null;

/**
 * The reference that a user writes: `turn_2` may be written as `2`, and `turn_2/agent1.1` as
 * `2/agent1.1`. Throws CliError.
 */
export function toReference(text: string): string {
  const reference = /^\d/.test(text) ? `turn_${text}` : text;
  if (parseReference(reference)) return reference;
  throw new CliError(
    EXIT.config,
    `Points of a session look like ${REFERENCE_FORMS.replaceAll("`", "")}.`,
  );
}
