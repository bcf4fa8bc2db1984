import { z } from "zod";

/** What a provider does for a model on its own machines, by our names. */
export const HostedToolNameSchema = z.enum(["web_search", "x_search", "code_execution"]);
export type HostedToolName = z.infer<typeof HostedToolNameSchema>;

/** One use of a hosted tool: what it was asked (a query, code) and what came of it, both shortened. */
export const HostedUseSchema = z.object({
  name: HostedToolNameSchema,
  input: z.string(),
  outcome: z.enum(["ok", "error"]),
  output: z.string(),
});
export type HostedUse = z.infer<typeof HostedUseSchema>;

/** A source of a reply's text; `text` is the passage that rests on it, where the provider says. */
export const CitationSchema = z.object({
  url: z.string(),
  title: z.string(),
  text: z.string().optional(),
});
export type Citation = z.infer<typeof CitationSchema>;
