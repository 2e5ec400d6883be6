import { defineConfig } from '@kubb/core';
import { pluginClient } from '@kubb/plugin-client';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';

export default defineConfig({
  input: { path: './openapi.json' },
  output: { path: './catalogue', format: false, lint: false, extension: { '.ts': '' } },
  plugins: [
    pluginOas({ generators: [] }),
    // It gives `attributes` two index signatures, one for each keyword of the document, which TypeScript refuses.
    pluginTs({ enumType: 'asConst', output: { path: 'types', banner: '// @ts-nocheck' } }),
    // The functions return the status and the headers too. The module adds the address and the key.
    pluginClient({ importPath: '../../kubb-fetch', dataReturnType: 'full', pathParamsType: 'object' }),
  ],
});
