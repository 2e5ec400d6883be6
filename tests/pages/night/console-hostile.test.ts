import { expect } from 'chai';
import { inProcessService } from '../../support/in-process-service.js';
import { consolePages } from '../console-page.js';

/** Sets `hacked` in the page if any part of the page takes it for markup, a script or a link. */
const SCRIPT = `window.hacked=1`;
const HOSTILE = `"><img src=x onerror=${SCRIPT}><script>${SCRIPT}</script>`;
const LINK = `javascript:${SCRIPT}`;

const HASHES = [
  ...['#/__proto__', '#/constructor', '#/toString/1', '#/__proto__/new', '#/import/__proto__'],
  ...['#/import/constructor', '#/hasOwnProperty?q=a', '#/keys/__proto__', `#/${encodeURIComponent(LINK)}`],
  ...[`#${LINK}`, '#//example.com', '#/../users', '#/%', '#/products/9007199254740993', '#/products/0'],
  ...['#/products?cursor=..%2f', '#/products?sort=__proto__', '#/products?fields=constructor,__proto__'],
  ...['#/products?__proto__=1&constructor=2', '#/products?limit=-1', `#/products?q=${HOSTILE}`],
  ...[`#/products?name=${encodeURIComponent(HOSTILE)}`, '#/products?attributes.__proto__=1'],
  ...['#/products?attributes.=1', '#/products?toString.exists=true', '#/products?sku.constructor=1'],
];

describe('the console with hostile data', () => {
  const service = inProcessService();
  const open = consolePages(service);

  it('shows the texts of records and keys as text', async () => {
    const { client } = service;
    const attributes = { [HOSTILE.slice(0, 60)]: HOSTILE, constructor: LINK, toString: 'x', 'a.b:c/~': LINK };
    const product = { name: HOSTILE, description: `${HOSTILE}\n${LINK}`, attributes };
    await client.post('/v1/products', product);
    await client.post('/v1/products', { name: LINK, brand: HOSTILE, tags: [HOSTILE.slice(0, 60), LINK] });
    await client.post('/v1/users', { name: HOSTILE, email: 'a@example.com' });
    await client.post('/v1/api-keys', { name: HOSTILE, scopes: ['products:read'] });
    const { page, errors } = await open();
    // The service has no such address.
    await page.route('**/v1/products/2', async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        json: { ...(await response.json()), url: LINK, images: [{ url: LINK }] },
      });
    });
    for (const hash of ['#/products', '#/products/1', '#/products/2', '#/users', '#/users/1', '#/keys', '#/keys/2']) {
      await page.goto(`https://localhost:${service.port}/console${hash}`);
      await page.reload();
      await page.locator('main h1').first().waitFor();
      await page.getByText('Loading…').first().waitFor({ state: 'hidden' });
      expect(await page.locator('[onerror], [href^="javascript:"], img').count(), hash).to.equal(0);
    }
    expect(await page.evaluate('window.hacked')).to.equal(undefined);
    expect(errors).to.deep.equal([]);
  });

  it('takes no harm from any fragment of its URL', async () => {
    const { page, errors } = await open();
    for (const hash of HASHES) {
      await page.goto(`https://localhost:${service.port}/console${hash}`);
      await page.reload();
      await page.getByRole('navigation').first().waitFor();
      expect(await page.locator('main').innerText(), hash).to.not.equal('');
      expect(await page.locator('[onerror], [href^="javascript:"], img').count(), hash).to.equal(0);
      expect(errors, hash).to.deep.equal([]);
    }
    expect(await page.evaluate('window.hacked')).to.equal(undefined);
    expect(new URL(page.url()).host).to.equal(`localhost:${service.port}`);
  });
});
