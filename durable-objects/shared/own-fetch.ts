/**
 * The runtime's own `fetch`: the object itself sends the request. It has no guard, so callers add
 * one, or send only requests that were checked before.
 */
export const ownFetch: typeof fetch = (input, init) => fetch(input, init);
