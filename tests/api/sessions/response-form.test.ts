import { Hono } from "hono";
import { expect, it } from "vitest";
import { preferredForm } from "../../../src/api/sessions/streams";
import type { ApiEnv } from "../../../src/api/api-env";

/** The preferred form if JSON is the default, and the form if the stream is the default. */
async function formsFor(accept: string | null): Promise<string[]> {
  const app = new Hono<ApiEnv>();
  app.get("/json", (context) => context.text(preferredForm(context, "json")));
  app.get("/stream", (context) => context.text(preferredForm(context, "stream")));
  const formAt = async (path: string) =>
    (await app.request(path, accept === null ? {} : { headers: { accept } })).text();
  return [await formAt("/json"), await formAt("/stream")];
}

const DEFAULT_FORMS = ["json", "stream"];
const JSON_EVERYWHERE = ["json", "json"];
const STREAM_EVERYWHERE = ["stream", "stream"];

it.each([
  { name: "without an Accept header is the default", accept: null, forms: DEFAULT_FORMS },
  { name: "for an empty header is the default", accept: "", forms: DEFAULT_FORMS },
  { name: "for any type is the default", accept: "*/*", forms: DEFAULT_FORMS },
  { name: "for another type is the default", accept: "text/html", forms: DEFAULT_FORMS },
  { name: "for JSON is JSON", accept: "application/json", forms: JSON_EVERYWHERE },
  {
    name: "for JSON in upper case with a parameter is JSON",
    accept: "Application/JSON; charset=utf-8",
    forms: JSON_EVERYWHERE,
  },
  { name: "for the stream is the stream", accept: "text/event-stream", forms: STREAM_EVERYWHERE },
  {
    name: "for JSON and then the stream is JSON",
    accept: "application/json, text/event-stream",
    forms: JSON_EVERYWHERE,
  },
  {
    name: "for the stream and then JSON is the stream",
    accept: "text/event-stream, application/json",
    forms: STREAM_EVERYWHERE,
  },
  {
    name: "for both with weights is the form with the larger weight",
    accept: "application/json;q=0.5, text/event-stream",
    forms: STREAM_EVERYWHERE,
  },
  {
    name: "for JSON and, with a small weight, any type is JSON",
    accept: "*/*;q=0.1, application/json",
    forms: JSON_EVERYWHERE,
  },
  {
    name: "for the stream and, with weight 0, JSON is the stream",
    accept: "text/event-stream, application/json;q=0",
    forms: STREAM_EVERYWHERE,
  },
])("the preferred form of a response $name", async ({ accept, forms }) => {
  expect(await formsFor(accept)).toEqual(forms);
});
