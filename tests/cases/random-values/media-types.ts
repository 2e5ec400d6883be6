export const NDJSON = 'application/x-ndjson';
export const CSV = 'text/csv';
export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';

export const ofType = (type: string) => ({ headers: { 'Content-Type': type } });
