/** Media types of uploads. */
export const TAR = "application/x-tar";
export const GZIP = "application/gzip";
export const JSON_TYPE = "application/json";
