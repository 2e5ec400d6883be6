import { ListParameters } from '../lists/list-parameters.js';
import { LINES } from '../lists/ndjson.js';
import { Views } from '../views.js';
import type { DescribedResource } from './described-resource.js';
import { linesOf, notModified, type OperationDescription } from './description.js';

export function describedListing<Fields>(resource: DescribedResource<Fields>): OperationDescription {
  const { words } = resource;
  const { path, fields } = resource.description;
  const record = resource.shown();
  return {
    ...resource.about('whole', 'view'),
    id: `list${words.name}s`,
    summary: `List ${words.many}`,
    text: 'Returns one page, of at most `limit` records, or fewer if they are large. To read the whole list, follow `next` in `Link` until there is none: every record that keeps its place in the list appears exactly once, whatever else is written in the meantime. With `Accept: application/x-ndjson` each record is a line; without `limit` the whole list is then sent as one stream. If the stream cannot be completed, the connection is cut before the end of the response, which HTTP clients report as an error.',
    query: [...new ListParameters(path, fields).described(), new Views(resource.description).described()],
    headers: ['KnownTags', 'PreferCount', 'AcceptEncoding'],
    answers: [
      {
        status: 200,
        description: `A page of ${words.many}, or all of them as lines.`,
        optionalHeaders: ['ETag'],
        headers: ['Link', 'X-Total-Count', 'Preference-Applied', 'Content-Encoding'],
        content: {
          'application/json': {
            schema: { type: 'array', items: record },
            examples: { some: { summary: 'One record', value: [resource.example] } },
          },
          [LINES]: { schema: linesOf(record) },
        },
      },
      notModified('X-Total-Count', 'Link', 'Preference-Applied'),
    ],
    errors: ['invalid_parameter', 'invalid_cursor', 'cursor_mismatch', 'query_too_expensive'],
  };
}

export function describedReading<Fields>(resource: DescribedResource<Fields>): OperationDescription {
  const { words } = resource;
  return {
    ...resource.about('whole', 'view'),
    id: `get${words.name}`,
    summary: `Read ${words.one}`,
    query: [new Views(resource.description).described()],
    headers: ['KnownTags'],
    answers: [
      {
        status: 200,
        description: 'The record.',
        headers: ['ETag'],
        content: { 'application/json': { schema: resource.shown(), examples: resource.examples() } },
      },
      notModified(),
    ],
    errors: ['invalid_parameter'],
  };
}
