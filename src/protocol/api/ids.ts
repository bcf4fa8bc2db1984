import { z } from "zod";

/** Session ids look like `session_01jd…`: time-sortable, lower case. */
export const IdSchema = z.string().regex(/^[a-z0-9_]{10,64}$/, "is not an id");
/** `agent2.1` or `agent2.final`. */
export const LabelSchema = z
  .string()
  .regex(/^agent[1-9][0-9]?\.([1-9][0-9]{0,5}|final)$/, "is not an answer label");
