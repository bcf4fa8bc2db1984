import { createHash } from "node:crypto";
import * as z from "zod";
import type { Format, Json } from "./dialect";

/** Finds the images, audio and files of a request in each wire format. */

const source = z.object({ type: z.literal("base64"), media_type: z.string(), data: z.string() });
const url = z.string().regex(/^data:[a-z]+\/[a-z-]+;base64,/);

type FoundPart = { mediaType: string; name: string; base64: string };

const PARTS: Readonly<Record<Format, z.ZodType<FoundPart>>> = {
  "openai-chat": z.union([
    z
      .object({ type: z.literal("image_url"), image_url: z.object({ url }) })
      .transform(({ image_url }) => fromDataUrl(image_url.url, "")),
    z
      .object({ type: z.literal("file"), file: z.object({ filename: z.string(), file_data: url }) })
      .transform(({ file }) => fromDataUrl(file.file_data, file.filename)),
    z
      .object({
        type: z.literal("input_audio"),
        input_audio: z.strictObject({ data: z.base64(), format: z.enum(["wav", "mp3"]) }),
      })
      .transform(({ input_audio: { data, format } }) => ({
        mediaType: `audio/${format}`,
        name: "",
        base64: data,
      })),
  ]),
  "openai-responses": z.union([
    z
      .object({
        type: z.literal("input_image"),
        detail: z.enum(["auto", "low", "high"]),
        image_url: url,
      })
      .transform(({ image_url }) => fromDataUrl(image_url, "")),
    z
      .object({ type: z.literal("input_file"), filename: z.string(), file_data: url })
      .transform(({ filename, file_data }) => fromDataUrl(file_data, filename)),
  ]),
  anthropic: z
    .object({ type: z.enum(["image", "document"]), source, title: z.string().default("") })
    .transform(({ source: { media_type, data }, title }) => ({
      mediaType: media_type,
      name: title,
      base64: data,
    })),
  gemini: z
    .object({ inlineData: z.object({ mimeType: z.string(), data: z.string() }) })
    .transform(({ inlineData: { mimeType, data } }) => ({
      mediaType: mimeType,
      name: "",
      base64: data,
    })),
};

function fromDataUrl(dataUrl: string, name: string): FoundPart {
  const [head = "", base64 = ""] = dataUrl.split(",");
  return { mediaType: head.replace(/^data:|;base64$/g, ""), name, base64 };
}

/**
 * One line for each attachment in the request, as `image/png 1f2e3d4c5b6a`: media type, name and
 * the first 12 digits of the SHA-256. The name is omitted if the format has none.
 */
export function attachedIn(format: Format, body: Json): string[] {
  const lists = [body["messages"], body["input"], body["contents"]].filter(Array.isArray).flat();
  const parts = lists.flatMap((message: Json) =>
    [message["content"], message["parts"]].filter(Array.isArray).flat(),
  );
  return parts.flatMap((part: unknown) => {
    const { data } = PARTS[format].safeParse(part);
    if (!data) return [];
    const hash = createHash("sha256")
      .update(Buffer.from(data.base64, "base64"))
      .digest("hex")
      .slice(0, 12);
    return [[data.mediaType, data.name, hash].filter(Boolean).join(" ")];
  });
}
