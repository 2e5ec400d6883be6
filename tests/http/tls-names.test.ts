import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { type InProcessService, inProcessService } from '../support/in-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const PUBLIC_URL = 'https://[2001:db8::9]:8443/shop';
const TLS_NAMES = 'Shop.example, 10.0.0.7,2001:db8::7';

describe('the self-signed certificate', () => {
  const folder = temporaryFolder();
  /** The CA of the first start. */
  let authority: string;
  /** Whether a client that trusts the CA accepts the certificate under a name. */
  const isTrusted = ({ port }: InProcessService, name: string) =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', servername: '', ca: authority, checkServerIdentity });
      // Node sends no address as a server name, so the name is checked here.
      function checkServerIdentity(_host: string, certificate: { subjectaltname?: string }) {
        return isNamed(certificate.subjectaltname ?? '', name) ? undefined : new Error('another name');
      }
      socket.once('error', () => resolve(false));
      socket.once('secureConnect', () => {
        resolve(socket.authorized);
        socket.destroy();
      });
    });
  const isNamed = (names: string, name: string) => names.split(', ').some((one) => one.endsWith(`:${name}`));
  const trusted = async (service: InProcessService, names: readonly string[]) => {
    const results: string[] = [];
    for (const name of names) if (await isTrusted(service, name)) results.push(name);
    return results;
  };
  const LOCAL = ['localhost', '127.0.0.1', '0:0:0:0:0:0:0:1'];
  const SET = ['shop.example', '10.0.0.7', '2001:DB8:0:0:0:0:0:7'];
  const PUBLIC = ['2001:DB8:0:0:0:0:0:9'];
  const ALL = [...LOCAL, ...SET, ...PUBLIC, 'other.example', 'x.shop.example'];

  describe('of a first start without TLS_NAMES and PUBLIC_URL', () => {
    const service = inProcessService({ DATA_DIR: folder });

    it('holds the names of this machine', async () => {
      authority = readFileSync(`${folder}/tls/ca.pem`, 'utf8');
      expect(await trusted(service, ALL)).to.deep.equal(LOCAL);
    });
  });

  describe('of a later start with both', () => {
    const service = inProcessService({ DATA_DIR: folder, TLS_NAMES, PUBLIC_URL });

    it('is renewed with all names, by the same CA', async () => {
      expect(await trusted(service, ALL)).to.deep.equal([...LOCAL, ...SET, ...PUBLIC]);
      expect(readFileSync(`${folder}/tls/ca.pem`, 'utf8')).to.equal(authority);
    });
  });

  describe('of a start with fewer names', () => {
    const service = inProcessService({ DATA_DIR: folder, TLS_NAMES: 'shop.example', PUBLIC_URL: 'https://a_b' });

    it('is renewed for the host of PUBLIC_URL, and loses what is no longer set', async () => {
      expect(await trusted(service, [...ALL, 'a_b'])).to.deep.equal([...LOCAL, 'shop.example', 'a_b']);
      expect(readFileSync(`${folder}/tls/ca.pem`, 'utf8')).to.equal(authority);
    });
  });
});
