package imageproxy

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // its first picture
	"image/jpeg"
	"image/png"

	_ "github.com/sergeymakinen/go-ico" // its largest picture
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"
)

const (
	maxPixels   = 12_000_000 // of a picture that is decoded: up to 150 MB of memory
	jpegQuality = 80
)

// reduce returns a picture with at most the given width and twice this height. It decodes and encodes the picture even if
// it is small enough: the result contains nothing else than the picture. A panic of a decoder is an error.
func reduce(original []byte, width int) (_ Picture, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the decoder panicked: %v", cause)
		}
	}()
	config, _, err := image.DecodeConfig(bytes.NewReader(original))
	if err != nil {
		return Picture{}, err
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > maxPixels/config.Height {
		return Picture{}, fmt.Errorf("it has %d x %d pixels; at most %d are decoded", config.Width, config.Height, maxPixels)
	}
	decoded, _, err := image.Decode(bytes.NewReader(original))
	if err != nil {
		return Picture{}, err
	}
	return encode(scale(decoded, width))
}

// scale returns a picture that is small enough.
func scale(p image.Image, width int) image.Image {
	size := p.Bounds().Size()
	by := min(1, float64(width)/float64(size.X), float64(2*width)/float64(size.Y))
	if by == 1 {
		return p
	}
	small := image.NewRGBA(image.Rect(0, 0, max(1, int(float64(size.X)*by)), max(1, int(float64(size.Y)*by))))
	draw.BiLinear.Scale(small, small.Bounds(), p, p.Bounds(), draw.Src, nil)
	return small
}

// encode encodes a picture as JPEG, or as PNG if it is transparent.
func encode(p image.Image) (Picture, error) {
	var b bytes.Buffer
	if o, is := p.(interface{ Opaque() bool }); is && !o.Opaque() {
		err := png.Encode(&b, p)
		return Picture{"image/png", b.Bytes()}, err
	}
	err := jpeg.Encode(&b, p, &jpeg.Options{Quality: jpegQuality})
	return Picture{"image/jpeg", b.Bytes()}, err
}
