package fn

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
)

func cryptFunctions() []*Function {
	secret := func(name string, args ...Accept) simple {
		encrypt := name == "aes_encrypt"
		s := nullable(toBinary(textTo(name, 2, len(args), nil, args...)))
		s.canFail, s.tryArgs = true, name == "try_aes_decrypt"
		s.kernel = func(b *Binding) Kernel {
			a := &aesCall{function: "`" + b.Name + "`", encrypt: encrypt, try: name == "try_aes_decrypt"}
			return textKernel(a.write)
		}
		return s
	}
	encrypt := secret("aes_encrypt", binaryArg, binaryArg, text, text, binaryArg, binaryArg)
	encrypt.drawn = func(b *Binding) bool { // what is left out of the initialization vector is drawn
		if len(b.Args) < 3 || len(b.Args) > 4 {
			return len(b.Args) < 3
		}
		mode := b.Args[2]
		return mode.Const == nil || !isText(mode.Type) || mode.Const.IsNull(0) || !strings.EqualFold(mode.Const.StringAt(0), "ECB")
	}
	return simples(
		encrypt,
		secret("aes_decrypt", binaryArg, binaryArg, text, text, binaryArg),
		secret("try_aes_decrypt", binaryArg, binaryArg, text, text, binaryArg),
	)
}

// aesCall encrypts or decrypts; the cipher of the last key is kept, since keys seldom change from row to row.
type aesCall struct {
	function     string
	encrypt, try bool
	key          []byte
	block        cipher.Block
}

const (
	gcmNonce = 12
	gcmTag   = 16
)

// write computes (input, key[, mode[, padding[, iv[, aad]]]]); decryption has no iv, which is in front of its input.
func (a *aesCall) write(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	at := len(b)
	out, err := a.compute(b, args, i)
	switch {
	case err == nil:
		return out, true
	case a.try:
		return b[:at], false
	}
	e.Errs.Add(i, err)
	return b[:at], true
}

func (a *aesCall) compute(b []byte, args []*vec.Vector, i int) ([]byte, error) {
	mode, padding := "GCM", "DEFAULT"
	var iv, aad []byte
	for k, v := range args[min(2, len(args)):] {
		switch {
		case k == 0:
			mode = strings.ToUpper(v.StringAt(i))
		case k == 1:
			padding = strings.ToUpper(v.StringAt(i))
		case k == 2 && a.encrypt:
			iv = v.BytesAt(i)
		default:
			aad = v.BytesAt(i)
		}
	}
	input, key := args[0].BytesAt(i), args[1].BytesAt(i)
	if n := len(key); n != 16 && n != 24 && n != 32 {
		return nil, errclass.New("INVALID_PARAMETER_VALUE.AES_KEY_LENGTH", "parameter", "`key`", "functionName", "`aes_encrypt`/`aes_decrypt`",
			"actualLength", itoa(n))
	}
	asked := padding
	if padding == "DEFAULT" {
		padding = map[string]string{"GCM": "NONE"}[mode]
		if padding == "" {
			padding = "PKCS"
		}
	}
	nonce := map[string]int{"ECB": 0, "CBC": aes.BlockSize, "GCM": gcmNonce}
	want, known := nonce[mode]
	if !known || (mode == "GCM") != (padding == "NONE") || padding != "NONE" && padding != "PKCS" {
		return nil, errclass.New("UNSUPPORTED_FEATURE.AES_MODE", "mode", strings.Clone(mode), "padding", strings.Clone(asked),
			"functionName", "`aes_encrypt`/`aes_decrypt`")
	}
	if a.encrypt {
		switch {
		case mode == "ECB" && len(iv) > 0:
			return nil, errclass.New("UNSUPPORTED_FEATURE.AES_MODE_IV", "mode", mode, "functionName", a.function)
		case len(iv) > 0 && len(iv) != want:
			return nil, errclass.New("INVALID_PARAMETER_VALUE.AES_IV_LENGTH", "mode", mode, "parameter", "`iv`", "functionName", a.function,
				"expectedLength", itoa(want), "actualLength", itoa(len(iv)))
		case mode != "GCM" && len(aad) > 0:
			return nil, errclass.New("UNSUPPORTED_FEATURE.AES_MODE_AAD", "mode", mode, "functionName", a.function)
		}
		if len(iv) == 0 && want > 0 {
			iv = make([]byte, want)
			if _, err := rand.Read(iv); err != nil {
				return nil, a.failed(err.Error())
			}
		}
	} else {
		if len(input) < want {
			return nil, a.failed("the input is shorter than the initialization vector in front of it")
		}
		if mode != "GCM" && len(aad) > 0 {
			return nil, errclass.New("UNSUPPORTED_FEATURE.AES_MODE_AAD", "mode", mode, "functionName", a.function)
		}
		iv, input = input[:want], input[want:]
	}
	if a.block == nil || !bytes.Equal(a.key, key) {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, a.failed(err.Error())
		}
		a.key, a.block = append(a.key[:0], key...), block
	}
	if mode == "GCM" {
		return a.gcm(b, input, iv, aad)
	}
	return a.blocks(b, input, iv)
}

func (a *aesCall) gcm(b, input, iv, aad []byte) ([]byte, error) {
	g, err := cipher.NewGCMWithTagSize(a.block, gcmTag)
	if err != nil {
		return nil, a.failed(err.Error())
	}
	if a.encrypt {
		return g.Seal(append(b, iv...), iv, input, aad), nil
	}
	out, err := g.Open(b, iv, input, aad)
	if err != nil {
		return nil, a.failed("the tag does not match: another key, mode or additional data, or a changed input")
	}
	return out, nil
}

// blocks is ECB, without iv, and CBC; both fill the last block up with its number of missing bytes.
func (a *aesCall) blocks(b, input, iv []byte) ([]byte, error) {
	b = append(b, iv[:len(iv)*b2i(a.encrypt)]...)
	at := len(b)
	b = append(b, input...)
	if a.encrypt {
		pad := aes.BlockSize - len(input)%aes.BlockSize
		for range pad {
			b = append(b, byte(pad))
		}
	} else if len(input) == 0 || len(input)%aes.BlockSize != 0 {
		return nil, a.failed("the length of the input is no multiple of 16")
	}
	body := b[at:]
	switch {
	case len(iv) > 0 && a.encrypt:
		cipher.NewCBCEncrypter(a.block, iv).CryptBlocks(body, body)
	case len(iv) > 0:
		cipher.NewCBCDecrypter(a.block, iv).CryptBlocks(body, body)
	default:
		for ; len(body) > 0; body = body[aes.BlockSize:] {
			if a.encrypt {
				a.block.Encrypt(body, body)
			} else {
				a.block.Decrypt(body, body)
			}
		}
	}
	if a.encrypt {
		return b, nil
	}
	pad := int(b[len(b)-1])
	if pad < 1 || pad > aes.BlockSize {
		return nil, a.failed("the padding is wrong: another key or mode, or a changed input")
	}
	for _, c := range b[len(b)-pad:] {
		if int(c) != pad {
			return nil, a.failed("the padding is wrong: another key or mode, or a changed input")
		}
	}
	return b[:len(b)-pad], nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (a *aesCall) failed(detail string) error {
	return errclass.New("INVALID_PARAMETER_VALUE.AES_CRYPTO_ERROR", "parameter", "`expr`, `key`", "functionName", "`aes_encrypt`/`aes_decrypt`", "detailMessage", detail)
}
