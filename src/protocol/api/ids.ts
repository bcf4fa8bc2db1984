import * as z from "zod";

/** A session id, such as `session_01jd…`. Ids are in lower case and sort by time. */
export const IdSchema = z.string().regex(/^[a-z0-9_]{10,64}$/, "is not an id");
/** Label of an answer, `agent2.1`, or of a final text, `agent2.final`. */
export const LabelSchema = z
  .string()
  .regex(/^agent[1-9][0-9]?\.([1-9][0-9]{0,5}|final)$/, "is not an answer label");
