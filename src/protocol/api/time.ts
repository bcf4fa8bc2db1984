import * as z from "zod";

/** A time in requests and responses. */
export const seconds = z.number().describe("Unix time in seconds");
