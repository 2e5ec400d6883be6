import { join } from 'node:path/posix';
import { expect } from 'chai';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { redactSecrets } from '#src/shared/shown-text.js';

describe('redactSecrets', () => {
  it('redacts every API key, also one that is truncated or percent-encoded', () => {
    const key = newApiKey();
    const secret = key.slice(4);
    for (const text of [key, `a ${key}, "${key}"`, key.slice(0, 20), `/x/pcs%5F${secret}`, `PCS_${secret}`])
      expect(redactSecrets(text)).to.include('pcs_[secret]').and.not.include(secret.slice(0, 8));
  });

  it('redacts the secret of a webhook', () => {
    const secret = Buffer.alloc(32, 251).toString('base64');
    expect(secret).to.match(/[+/]/);
    expect(redactSecrets(`{"secret":"whsec_${secret}"}`)).to.equal('{"secret":"whsec_[secret]"}');
  });

  it('redacts the user and the password of a URL', () => {
    for (const scheme of ['mongodb', 'redis', 'https', 'mongodb+srv'])
      for (const userInfo of ['ann:secret', ':secret', 'secret', 'ann:sec:ret', 'ann:%73ecret', "ann:s'ecret"])
        expect(redactSecrets(`to "${scheme}://${userInfo}@db.example:27017/x?y#z" of`)).to.equal(
          `to "${scheme}://***@db.example:27017/x?y#z" of`,
        );
  });

  it('redacts a password of a server with characters that had to be percent-encoded', () => {
    for (const scheme of ['mongodb+srv', 'postgres', 'postgresql', 'rediss'])
      for (const password of ['P@ssword#24', '12345?abc', 'a/b', '/#?@'])
        expect(redactSecrets(`no ${scheme}://u:${password}@h/d`)).to.equal(`no ${scheme}://***@h/d`);
  });

  it('redacts them after the URL was resolved as a path, which joins its slashes', () => {
    const path = join('/srv/catalogue', 'mongodb://ann:secret@db.example/x');
    expect(path).to.include(':/ann:secret@');
    expect(redactSecrets(`${path} is missing, ${path} too`)).to.equal(
      '/srv/catalogue/mongodb:/***@db.example/x is missing, /srv/catalogue/mongodb:/***@db.example/x too',
    );
  });

  it('leaves other text unchanged', () => {
    for (const text of ['', 'a pcs_ of', 'pcs_[secret]', '{"path":"/api-keys/7"}', 'https://db.example/a@b'])
      expect(redactSecrets(text)).to.equal(text);
    for (const text of ['C:/data/ann@host', '{"email":"ann@db.example"}', 'a:/b c@d', ':/', 'redis://***@db'])
      expect(redactSecrets(text)).to.equal(text);
  });
});
