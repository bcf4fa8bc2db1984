import * as z from "zod";

/**
 * Schema of one page of a list. To get the next page, set `after` to the `last_id` of this page.
 */
export const listOf = <Item extends z.ZodType, Key extends z.ZodType>(item: Item, key: Key) =>
  z.object({
    object: z.literal("list").describe("Always `list`"),
    data: z.array(item).describe("The entries of this page"),
    first_id: key.nullable().describe("Id of the first entry; `null` for an empty page"),
    last_id: key.nullable().describe("Id of the last entry; `null` for an empty page"),
    has_more: z.boolean().describe("Whether more entries follow"),
  });
