import { expect } from 'chai';
import { signIn } from '../../tests/pages/console-page.js';
import { browser, openContext } from '../../tests/support/browser.js';
import { inProcessService } from '../../tests/support/in-process-service.js';
import { LOOPBACK, nginx, nginxServer, RunningProxy } from '../../tests/support/reverse-proxies.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';

/** nginx with the largest body that it takes. It buffers requests, as it does by default. */
const limited = (bytes: string) =>
  nginx((place) =>
    nginxServer(
      place,
      `client_max_body_size ${bytes};
location / {
  proxy_pass http://${LOOPBACK}:${place.service};
  proxy_set_header X-Forwarded-Proto https;
}`,
    ),
  );

describe('imports in the console behind nginx', () => {
  const folder = temporaryFolder();
  const service = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: LOOPBACK });
  const launched = browser();

  for (const [bytes, isHalved] of [
    ['1m', false],
    ['100k', true],
  ] as const)
    it(`check and import a file of 2 MB through client_max_body_size ${bytes}`, async () => {
      const proxy = await RunningProxy.start(limited(bytes), folder, { port: service.port });
      const context = await openContext(launched());
      try {
        const page = await context.newPage();
        const statuses: number[] = [];
        page.on('response', (response) => {
          if (response.url().includes('/imports')) statuses.push(response.status());
        });
        await page.goto(`https://localhost:${proxy.port}/console#/import/products`);
        await signIn(page);
        const rows = Array.from({ length: 4_000 }, (_, at) => `${bytes}-${at},Lamp ${at},${'x'.repeat(490)}`);
        const buffer = Buffer.from(['sku,name,description', ...rows].join('\n'));
        await page.locator('input[type=file]').setInputFiles({ name: 'p.csv', mimeType: '', buffer });
        await page.getByRole('radio', { name: 'SKU' }).check();
        await page.getByRole('button', { name: 'Check the file' }).click();
        await page.getByText('4,000 new').waitFor();
        await page.getByRole('button', { name: 'Start import' }).click();
        await page.getByText('4,000 created.', { exact: true }).waitFor();
        expect(statuses.includes(413)).to.equal(isHalved);
        const { json } = await proxy.client.get(`/v1/products?sku.in=${bytes}-0,${bytes}-3999&fields=name`);
        expect(json).to.deep.equal([{ name: 'Lamp 0' }, { name: 'Lamp 3999' }]);
      } finally {
        await context.close();
        await proxy.stop();
      }
    });
});
