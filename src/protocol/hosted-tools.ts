import * as z from "zod";

/** Tools that a provider runs on its own machines, by the names that configs use. */
export const HostedToolNameSchema = z.enum(["web_search", "x_search", "code_execution"]);
export type HostedToolName = z.infer<typeof HostedToolNameSchema>;

/** One use of a hosted tool. */
export const HostedUseSchema = z.object({
  name: HostedToolNameSchema.describe("Name of the hosted tool"),
  input: z.string().describe("Input of the tool, such as a query or code, shortened"),
  outcome: z.enum(["ok", "error"]).describe("Whether the use succeeded"),
  output: z.string().describe("Result of the use, shortened"),
});
export type HostedUse = z.infer<typeof HostedUseSchema>;

/** A source that a reply cites. */
export const CitationSchema = z.object({
  url: z.string().describe("Address of the source"),
  title: z.string().describe("Title of the source"),
  text: z
    .string()
    .optional()
    .describe("Passage of the reply that cites the source. Omitted if the provider gives none"),
});
export type Citation = z.infer<typeof CitationSchema>;
