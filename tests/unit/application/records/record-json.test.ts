import { expect } from 'chai';
import { fieldsJson, StoredRecord } from '#src/application/records/record-json.js';

const FIELDS = { name: 'Lamp €', price: { amount: 1, currency: 'EUR' } };
const JSON_TEXT = JSON.stringify(FIELDS);
const PLAIN = { id: 7, version: 2, createdAt: 3, updatedAt: 4, fields: FIELDS };
const RECORDS = {
  fields: () => StoredRecord.of(PLAIN),
  JSON: () => StoredRecord.fromJson<typeof FIELDS>(7, 2, 3, 4, JSON_TEXT),
};

for (const [source, make] of Object.entries(RECORDS))
  describe(`a stored record made from ${source}`, () => {
    it('has the fields and their JSON text', () => {
      const record = make();
      expect(record.fieldsJson).to.equal(JSON_TEXT);
      expect(record.fieldsBytes).to.equal(JSON_TEXT.length + 2);
      expect(record.fields).to.deep.equal(FIELDS);
      expect(fieldsJson(record)).to.equal(JSON_TEXT);
    });

    it('equals a plain record, and its copies are plain records with the fields', () => {
      expect(make()).to.deep.equal(PLAIN);
      expect({ ...make() }).to.deep.equal(PLAIN);
      expect(JSON.parse(JSON.stringify(make()))).to.deep.equal(PLAIN);
    });

    it('makes its fields and its text once', () => {
      const record = make();
      expect(record.fields).to.equal(record.fields);
      expect(record.fields).to.equal(StoredRecord.of(record).fields);
    });

    it('leaves no text to a copy with other fields', () => {
      const record = make();
      expect(record.fieldsJson).to.equal(JSON_TEXT);
      const changed = { ...record, fields: { ...record.fields, name: 'Torch' } };
      expect(fieldsJson(changed)).to.equal(JSON.stringify(changed.fields));
      expect(StoredRecord.of(changed).fieldsJson).to.equal(JSON.stringify(changed.fields));
    });

    it('has its text even if it is frozen', () => {
      expect(Object.freeze(make()).fieldsJson).to.equal(JSON_TEXT);
      expect(Object.freeze(make()).fields).to.deep.equal(FIELDS);
    });
  });

describe('fieldsJson', () => {
  it('writes the fields of a plain record', () => {
    expect(fieldsJson(PLAIN)).to.equal(JSON_TEXT);
  });
});
