export default {
  catalogue: {
    input: './openapi.json',
    output: {
      target: './catalogue/client.ts',
      client: 'fetch',
      override: {
        // Without it, a list is a stream, and a patch has no content type.
        contentType: { include: ['application/json', 'application/merge-patch+json'] },
        mutator: { path: './orval-fetch.ts', name: 'send' },
      },
    },
  },
};
